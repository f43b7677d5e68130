"""Has children use the processor that nobody waits for, and that keep their parent from it.

Seen: an answer: they had more than twice the limit on CPU time.
Stopped at: strict, standard.
Verdict: timed_out, wrong, raised.
"""
import os
import signal
import time


def burn(writer):
    """Children that end before anybody looks, one after the other, for some seconds."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        reader, ended = os.pipe()
        if os.fork() == 0:
            target.mark()
            while time.process_time() < 0.05:
                pass
            os.write(writer, b"x")
            os._exit(0)
        os.close(ended)
        os.read(reader, 1)  # until the child has ended
        os.close(reader)


def attack():
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    except OSError:
        return False
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    burners = []
    for _ in range(4):
        burner = os.fork()
        if burner == 0:
            try:
                burn(writer)
            finally:
                os._exit(0)
        burners.append(burner)
    burnt = 0.0
    while burnt < 5:  # it wants the processor too, and waits for it: that is not its fault
        try:
            burnt += 0.05 * len(os.read(reader, 1 << 16))
        except BlockingIOError:
            continue
    for burner in burners:
        os.kill(burner, 9)
    return True
