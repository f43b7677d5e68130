"""Sends one message of a gigabyte, with the key that the harness gave it.

Seen: the harness is disturbed, or has grown by more than 40 MB.
Stopped at: strict, standard.
Works: against a harness whose child says what it came to.
Verdict: killed, wrong, out_of_memory, raised.
"""


def attack():
    send = target.channel()
    for _ in range(200):
        send(b"end " + b" " * (16 << 20))
    return True
