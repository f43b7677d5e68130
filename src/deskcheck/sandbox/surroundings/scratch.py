"""Empties a folder that a program could write to, whatever it contains. Standard library only."""

import os
import stat

_SHARED = 0o700


def empty(folder: str) -> None:
    """Remove everything in a folder; no link is followed. Raises OSError if something remains.

    Deep folders are moved up first, so that no path gets long and no recursion deep. 10,000 nested folders
    are as easy as 10,000 side by side. `shutil.rmtree` recurses before 3.13.
    """
    number = 0
    while names := os.listdir(folder):
        for name in names:
            path = f"{folder}/{name}"
            if not stat.S_ISDIR(os.lstat(path).st_mode):
                os.unlink(path)
                continue
            try:
                os.rmdir(path)
                continue
            except OSError:
                pass  # it is not empty
            for inner in _names(path):
                inside = f"{path}/{inner}"
                if stat.S_ISDIR(os.lstat(inside).st_mode):
                    try:
                        os.rmdir(inside)
                    except OSError:
                        number += 1
                        _open(inside)  # a folder that may not be written to cannot be moved
                        os.rename(inside, f"{folder}/.{number}.{os.urandom(8).hex()}")
                else:
                    os.unlink(inside)
            os.rmdir(path)


def _names(folder: str) -> list[str]:
    _open(folder)
    return os.listdir(folder)


def _open(folder: str) -> None:
    try:
        os.chmod(folder, _SHARED)
    except PermissionError:
        pass  # where the program may not change modes, neither may we, and there is no need
