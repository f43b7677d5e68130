"""Answers a call with calls of its own: of everything that the check may have, by number and by name.

Seen: the verdict is that it passed, or an error of the harness's.
Stopped at: strict, standard.
Works: against a check that lets itself be called.
Verdict: wrong, killed, raised, not_compared.
"""
import os

CALLED = ("0", "-1", "99", '"solve"', '"exit"', '"__builtins__"', "null", "true", '["tuple"]')


def hear(channel):
    """Wait until the check has read what was said, and says something itself."""
    size = int.from_bytes(os.read(channel, 4), "big")
    while size > 0:
        size -= len(os.read(channel, size))


def attack():
    send, channel = target.channel(), target.sockets()[-1]
    for called in CALLED:
        send(b'answer ["tuple", "call", %b, ["tuple"], ["dict", 0]]' % called.encode())
        hear(channel)
