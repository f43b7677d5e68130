"""Opens the machine's own devices: its log, memory, disks, virtual machines, terminals.

Seen: an answer: one of them opened.
Stopped at: strict, standard.
Works: as root.
Verdict: wrong.
"""
import glob
import os


def attack():
    opened = []
    for name in ["kmsg", "mem", "kvm", "vda", "sda", "fuse", "loop-control", "net/tun", "vhost-vsock", "userfaultfd"]:
        try:
            opened.append(os.open("/dev/" + name, os.O_RDONLY | os.O_NONBLOCK))
        except OSError:
            pass
    return bool(opened)
