"""Says that it has ended with a million empty lists: three bytes are seventy in who reads them.

Seen: the harness is disturbed, or has grown by more than 40 MB.
Stopped at: strict, standard.
Works: against a harness whose child says what it came to.
Verdict: killed.
"""


def attack():
    target.channel()(b'end {"outcome": "returned", "cpu_s": 0, "imported": [' + b"[]," * 1_000_000 + b"[]]}")
    return True
