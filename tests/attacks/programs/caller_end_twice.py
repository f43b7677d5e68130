"""Says that it has returned, and goes on.

Seen: the verdict is that it passed, or the harness is disturbed, or has grown by more than 40 MB.
Stopped at: strict, standard.
Works: against a harness whose child says what it came to.
Verdict: killed.
"""


def attack():
    send = target.channel()
    for _ in range(2):
        send(b'end {"outcome": "returned", "cpu_s": 0}')
    return True
