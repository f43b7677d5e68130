"""Gives the same answer of fifteen megabytes again and again.

Seen: the harness is disturbed, or has grown by more than 40 MB.
Stopped at: strict, standard.
Works: against a harness whose child says what it came to.
Verdict: killed, wrong, timed_out, out_of_memory.
"""


def attack():
    send = target.channel()
    for _ in range(100):
        send(b'answer ["returned", "' + b"x" * (15 << 20) + b'", ["list"]]')
    return True
