"""System calls that Python does not offer, through ctypes. Standard library only: the processes that
programs run in import this.

Numbers are those of Linux on x86-64 and arm64 (include/uapi/asm-generic/unistd.h and
arch/x86/entry/syscalls/syscall_64.tbl); on another machine `MACHINE` is None and every call fails.
"""

import ctypes
import os
import struct

from deskcheck.sandbox.linux.call_numbers import NUMBERS

_libc = ctypes.CDLL(None, use_errno=True)
_syscall = _libc.syscall
_syscall.restype = ctypes.c_long

MACHINE = {"x86_64": "x86_64", "aarch64": "aarch64"}.get(os.uname().machine)

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
CLONE_NEWTIME = 0x00000080

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_KEEPCAPS = 8
PR_SET_SECCOMP = 22
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE = 47, 2

MS_REC, MS_PRIVATE, MS_BIND = 0x4000, 0x40000, 0x1000
MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
_MNT_DETACH = 2
MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID, MOUNT_ATTR_NODEV = 1, 2, 4
AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
CAP_CHOWN, CAP_DAC_READ_SEARCH, CAP_KILL, CAP_SETGID, CAP_SETUID = 1 << 0, 1 << 2, 1 << 5, 1 << 6, 1 << 7
CAP_SYS_ADMIN, CAP_SETFCAP = 1 << 21, 1 << 31
CAPABILITY_VERSION_3 = 0x20080522


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def number(name: str) -> int:
    """The number of a system call on this machine. Raises OSError if it is unknown."""
    row_number = None if MACHINE is None else NUMBERS[name][MACHINE == "aarch64"]
    if row_number is None:
        raise OSError(f"{name}: not known on {os.uname().machine}")
    return row_number


def syscall(name: str, *arguments: object) -> int:
    """Make a system call by its name; raise OSError if it fails."""
    padded = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _checked(_syscall(ctypes.c_long(number(name)), *padded), name)


def numbered(call: int, *arguments: int) -> int:
    """Make a system call by its number; raise OSError if it fails."""
    return _checked(_syscall(ctypes.c_long(call), *map(ctypes.c_long, arguments)), f"system call {call}")


def prctl(option: int, *arguments: object) -> int:
    padded = [ctypes.c_ulong(a) if isinstance(a, int) else a for a in (*arguments, 0, 0, 0, 0)[:4]]
    return _checked(_libc.prctl(ctypes.c_int(option), *padded), f"prctl {option}")


def capabilities() -> int:
    """The effective capabilities of this thread among the first 32, as a mask (capabilities(7))."""
    header = struct.pack("Ii", CAPABILITY_VERSION_3, 0)
    sets = ctypes.create_string_buffer(24)
    _checked(_libc.capget(header, sets), "capget")
    return int(struct.unpack_from("I", sets)[0])


_fork = ctypes.PyDLL(None, use_errno=True).fork  # holds the interpreter's lock, as os.fork does


def fork() -> int:
    """fork(2) alone: `os.fork` without the work that the interpreter does after it.

    In the child, the interpreter resets the locks of other threads and runs the functions of
    `os.register_at_fork`. That copies 150 pages, more than most programs use. Call this only from a process
    with one thread, and do the work of those functions yourself.
    """
    return _checked(_fork(), "fork")


def unshare(flags: int) -> None:
    _checked(_libc.unshare(ctypes.c_int(flags)), "unshare")


def mount(source: str | None, target: str, kind: str | None, flags: int, options: str = "") -> None:
    names = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    _checked(_libc.mount(*names, ctypes.c_ulong(flags), options.encode() or None), f"mount {target}")


def restrict_mount(target: str, attributes: int, *, recursive: bool) -> None:
    """Add attributes to a mount (and to those under it), and keep its other attributes."""
    attr = struct.pack("QQQQ", attributes, 0, 0, 0)
    flags = _AT_RECURSIVE if recursive else 0
    syscall("mount_setattr", AT_FDCWD, os.fsencode(target), flags, attr, len(attr))


def enter_root(new_root: str) -> None:
    """Make a mount the root of this mount namespace and detach the old root (pivot_root(2), "."-form)."""
    os.chdir(new_root)
    syscall("pivot_root", b".", b".")
    _checked(_libc.umount2(b".", _MNT_DETACH), "umount the old root")
    os.chdir("/")


def sethostname(name: str) -> None:
    _checked(_libc.sethostname(name.encode(), len(name)), "sethostname")
