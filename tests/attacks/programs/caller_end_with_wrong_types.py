"""Says that it has ended, with numbers where texts and lists are meant.

Seen: the harness is disturbed, or has grown by more than 40 MB.
Stopped at: strict, standard.
Works: against a harness whose child says what it came to.
Verdict: killed.
"""


def attack():
    target.channel()(b'end {"outcome": "returned", "cpu_s": 0, "imported": 5, "sources": 5, "detail": [], "result": {}}')
    return True
