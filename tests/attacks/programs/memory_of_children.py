"""Takes 200 MiB in each of five children: each is within the limit on one process, together they are not.

Seen: an answer: all of them got it.
Stopped at: strict, standard.
Verdict: wrong, raised, out_of_memory, killed.
"""
import os
import time


def attack():
    reader, writer = os.pipe()
    children = []
    for _ in range(5):
        child = os.fork()
        if child == 0:
            try:
                memory = bytearray(200 << 20)
                os.write(writer, b"x")
                time.sleep(1.5)
            finally:
                os._exit(len(memory) == 0)
        children.append(child)
    return all(os.waitpid(child, 0)[1] == 0 for child in children)
