"""Takes 150 MiB of shared memory in each of three children that nobody may look into, and keeps them for seconds.

Seen: an answer: all of them kept it.
Stopped at: strict, standard.
Verdict: wrong, raised, out_of_memory, killed.
"""
import ctypes
import mmap
import os
import time


def attack():
    reader, writer = os.pipe()
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            try:
                ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
                memory = mmap.mmap(-1, 150 << 20)
                for at in range(0, len(memory), 4096):
                    memory[at] = 1
                os.write(writer, b"x")
                time.sleep(1)
            finally:
                os._exit(memory[0] != 1)
        children.append(child)
    return all(os.waitpid(child, 0)[1] == 0 for child in children)
