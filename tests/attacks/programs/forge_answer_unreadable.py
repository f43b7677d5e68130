"""Answers with what no value looks like: unknown words, numbers of nothing, lists in themselves, too many digits.

Seen: the verdict is that it passed, or an error of the harness's.
Stopped at: strict, standard.
Works: against a check that reads what a program wrote.
Verdict: wrong, killed, raised.
"""
import os

FORMS = [
    b'["function", -5, "x"]',
    b'["again", 7]',
    b'["tuple", ["list", 0, ["again", 0]]]',
    b'["error", "E", "type", ["tuple"], null, []]',
    b'["error", "NotCompared", "BaseException", ["tuple"], "x", [["__class__", ["tuple", 1]]]]',
    b'["decimal.Decimal", "1e999999999999999999"]',
    b'["number", "O", "00"]',
    b'["ndarray", 0, "<f8", [1152921504606846976], ""]',
    b'["int", "0x' + b"f" * 1000000 + b'"]',
    b'["zoneinfo.ZoneInfo", "../../../../etc/passwd"]',
    b'["class", "type"]',
    b"[" * 100000,
    b"1" * 5000,
]


def hear(channel):
    """Wait until the check has read what was said, and says something itself."""
    size = int.from_bytes(os.read(channel, 4), "big")
    while size > 0:
        size -= len(os.read(channel, size))


def attack():
    send, channel = target.channel(), target.sockets()[-1]
    for form in FORMS:
        send(b'answer ["tuple", "call", 0, ' + form + b', ["dict", 9]]')
        hear(channel)
