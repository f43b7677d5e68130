"""Has children of a second thread use the processor, each for less than the limit.

Seen: an answer: they had twice the limit on CPU time.
Stopped at: strict, standard.
Verdict: timed_out, wrong, raised.
"""
import os
import threading
import time


def attack():
    ended = []

    def start():
        children = []
        for _ in range(3):
            child = os.fork()
            if child == 0:
                target.mark()
                while time.process_time() < 1.4:
                    pass
                os._exit(0)
            children.append(child)
        ended.extend(os.waitpid(child, 0)[1] for child in children)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    return ended == [0] * 3
