"""Answers a million times before it is asked.

Seen: the harness is disturbed, or has grown by more than 40 MB.
Stopped at: strict, standard.
Works: against a harness whose child says what it came to.
Verdict: killed, wrong, timed_out, out_of_memory.
"""


def attack():
    send = target.channel()
    for _ in range(1_000_000):
        send(b"answer " + b"x" * 1000)
    return True
