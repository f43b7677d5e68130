"""Sends events that nobody asked for, and that are none.

Seen: the harness is disturbed, or has grown by more than 40 MB.
Stopped at: strict, standard.
Works: against a harness whose child says what it came to.
Verdict: killed.
"""


def attack():
    target.channel()(b"\xdcK\x01" + bytes(range(256)) * 1000)
    return True
