"""Opens the kernel's settings for writing: the handler of core dumps, SysRq, cgroups (and writes nothing).

Seen: an answer: one of them opened.
Stopped at: strict, standard.
Works: as root.
Verdict: wrong.
"""
import glob
import os


def attack():
    names = ["/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/sys/vm/drop_caches", "/proc/sys/kernel/modprobe"]
    names += glob.glob("/sys/fs/cgroup/*/cgroup.procs") + glob.glob("/sys/fs/cgroup/*/release_agent")
    for name in names:
        try:
            os.close(os.open(name, os.O_WRONLY))
        except OSError:
            continue
        return True
