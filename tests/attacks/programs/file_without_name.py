"""Makes a file that has no name (O_TMPFILE) and gives it one outside, by its descriptor.

Seen: the file is there.
Stopped at: strict, standard.
Works: where the folders lie in one file system.
Verdict: wrong, raised.
"""
import os


def attack():
    descriptor = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600)
    os.write(descriptor, b"left")
    os.link(f"/proc/self/fd/{descriptor}", os.path.join(target.outside, "named"), follow_symlinks=True)
