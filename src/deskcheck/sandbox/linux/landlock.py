"""Landlock: restricts the files that a process and its children can reach, without any privilege.

ABI numbers are those of https://docs.kernel.org/userspace-api/landlock.html. Landlock does not restrict
chmod, chown, utime and extended attributes, nor lookups (whether a path exists).
"""

import os
import stat
import struct
from collections.abc import Iterable

from deskcheck.sandbox.linux.kernel import syscall

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_RIGHTS_BY_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
_ALL_RIGHTS = (1 << 16) - 1
_VERSION = 1
_PATH_BENEATH = 1


def abi() -> int:
    """The version of Landlock in the kernel; 0 without Landlock."""
    try:
        return syscall("landlock_create_ruleset", 0, 0, _VERSION)
    except OSError:
        return 0


def ruleset(
    version: int,
    readable: Iterable[str],
    writable: Iterable[str],
    runnable: Iterable[str] = (),
    listed: Iterable[str] = (),
) -> int:
    """A descriptor of rules. Paths that do not exist are skipped. Raises OSError.

    Args:
        version: the version of the ABI, up to `abi()`. From 3 on it restricts `truncate`, from 4 TCP, from 6
            signals and abstract sockets to processes outside.
        readable: paths below which files can be read and executed.
        writable: paths below which everything but execution is allowed.
        runnable: paths below which files can be executed.
        listed: paths below which names can be listed.
    """
    handled = _RIGHTS_BY_ABI.get(version, _ALL_RIGHTS)
    attr = struct.pack("Q", handled)
    if version >= 4:
        attr += struct.pack("Q", 3)  # bind and connect
    if version >= 6:
        attr += struct.pack("Q", 3)  # abstract UNIX sockets and signals
    rules = syscall("landlock_create_ruleset", attr, len(attr), 0)
    every = [(path, _EXECUTE | _READ_FILE | _READ_DIR) for path in readable]
    every += [(path, _ALL_RIGHTS & ~_EXECUTE & ~_IOCTL_DEV) for path in writable]
    every += [(path, _EXECUTE) for path in runnable]
    every += [(path, _READ_DIR) for path in listed]
    for path, rights in every:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        try:
            if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
                rights &= _OF_FILES
            syscall(
                "landlock_add_rule", rules, _PATH_BENEATH, struct.pack("=Qi", rights & handled, descriptor), 0
            )
        finally:
            os.close(descriptor)
    return rules
