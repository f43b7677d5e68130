"""Sends the last message again, with its key: what was right once is not right twice.

Seen: the verdict is that it passed, or the harness is disturbed.
Stopped at: strict, standard.
Works: against a harness whose messages have no numbers.
Verdict: killed, wrong.
"""
import os


def attack():
    written = []
    send = target.channel()
    inner = next(
        cell.cell_contents
        for cell in send.__closure__
        if getattr(cell.cell_contents, "__name__", "") == "send_part"
    )
    cells = dict(zip(inner.__code__.co_freevars, inner.__closure__))
    real = cells["write"].cell_contents

    def write(descriptor, data):
        written.append((descriptor, bytes(data)))
        return real(descriptor, data)

    cells["write"].cell_contents = write
    send(b'answer ["tuple", "returned", 1, ["tuple"]]')
    cells["write"].cell_contents = real
    for descriptor, data in written:
        os.write(descriptor, data)
    return True
