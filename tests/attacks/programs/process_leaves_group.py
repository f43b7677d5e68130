"""Leaves its control group for the machine's own, where nothing is counted.

Seen: an answer: it is in another group.
Stopped at: strict, standard.
Works: where the program runs as root.
Verdict: wrong, raised.
"""
import glob
import os


def attack():
    moved = False
    for path in [*glob.glob("/sys/fs/cgroup/cgroup.procs"), *glob.glob("/sys/fs/cgroup/*/cgroup.procs")]:
        folder = f"{os.path.dirname(path)}/{target.comm}"
        try:
            os.mkdir(folder)
            with open(f"{folder}/cgroup.procs", "w") as file:
                file.write(str(os.getpid()))
            moved = True
            with open(path, "w") as file:
                file.write(str(os.getpid()))
            os.rmdir(folder)
        except OSError:
            continue
    return moved
