"""Takes 3 GiB of memory, a little of each piece.

Seen: an answer: it got them.
Stopped at: strict, standard.
Verdict: raised, out_of_memory.
"""
import mmap


def attack():
    memory = mmap.mmap(-1, 3 << 30)
    for place in range(0, 3 << 30, 16 << 20):
        memory[place] = 1
    return True
