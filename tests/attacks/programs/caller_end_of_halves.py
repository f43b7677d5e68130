"""Says that it has raised, in halves of characters (surrogates), which no file can be written with.

Seen: the harness is disturbed, or has grown by more than 40 MB.
Stopped at: strict, standard.
Works: against a harness that writes down what its child says.
Verdict: killed, raised, wrong.
"""


def attack():
    half = rb"\ud800\udfff\ud800"
    said = b'{"outcome": "raised", "exception": "%b", "detail": "%b", "cpu_s": 0}'
    target.channel()(b"end " + said % (half, half))
