"""Takes the processor away from every process of the user, with one call that names nobody.

Seen: another process's priority is changed.
Stopped at: strict, standard.
Works: as an ordinary user; root's processes are those of the whole machine.
Verdict: raised.
"""
import os


def attack():
    if os.getuid() == 0:
        raise PermissionError("it would be more than this suite's own processes")
    os.setpriority(os.PRIO_USER, 0, 19)
