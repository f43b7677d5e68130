"""A seccomp filter: restricts the system calls of a process and its children, without any privilege.

Like nsjail and Docker, the filter allows a list of calls, some with certain arguments only. Calls that are
refused by name fail with EPERM. (Both lists are in `call_numbers`.) Every other number fails with ENOSYS, as
on an older kernel, so libraries fall back on other calls. A call of another architecture or of x32 kills the
process. A filter does not see the targets of pointers: paths, and the addresses in messages.

The filter is a search tree over call numbers. The kernel runs it once for every number when it is attached
(seccomp_cache_prepare), which takes 0.1 ms for a list.
"""

import ctypes
import errno
import functools
import signal
import struct

from deskcheck.sandbox.linux.call_numbers import ALLOWED, NUMBERS, REFUSED
from deskcheck.sandbox.linux.kernel import MACHINE, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, prctl, syscall
from deskcheck.sandbox.linux.orphans import RLIMIT_LOCKS

_Instruction = tuple[int, int, int, int]
_LOAD, _JUMP, _EQUAL, _ABOVE, _AT_LEAST = 0x20, 0x05, 0x15, 0x25, 0x35
_ANY_BIT, _RETURN, _AND = 0x45, 0x06, 0x54
_ALLOW, _FAIL, _KILL, _ASK = 0x7FFF0000, 0x00050000, 0x80000000, 0x7FC00000
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32, _NO_NUMBER = 0x40000000, 0x80000000

_ATTRIBUTES = frozenset(name for name in REFUSED if name.endswith("xattr"))
"""Calls for extended attributes, which Landlock does not restrict. They fail as on a file system without
extended attributes, so that programs can still copy files."""

_SIGNALS = ("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "tkill")
"""Calls that this filter allows for all programs: `only_own_signals` restricts them."""
_OWNER_CHANGES = frozenset(
    {"chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes"}
    | {"futimesat", "utimensat"}
)
"""Calls for the owner of a file, which Landlock does not restrict. They are refused if the program runs as
the user."""
_FOR_LISTENING = frozenset({"socket", "bind", "listen", "accept", "accept4", "seccomp"})
_BAD_CLONES = 0x7E028080
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET, NEWTIME; and CLONE_PARENT."""
_CLONE_THREAD, _CLONE_FILES, _CLOSE_RANGE_UNSHARE = 0x10000, 0x400, 2
"""Flags of clone and close_range. A thread must share the descriptors of its process, because
`processes.filled` would not see its own."""
_AF_UNIX, _STREAM, _SEQPACKET, _KIND_BITS = 1, 1, 5, 0xF
_SOL_SOCKET = 1
_SOCKET_OPTIONS = (2, 9, 13, 15, 16, 18, 20, 21, 66, 67)
"""SO_REUSEADDR, KEEPALIVE, LINGER, REUSEPORT, PASSCRED, RCVLOWAT, RCVTIMEO, SNDTIMEO, and the last two with 64
bits. Sizes of buffers are missing, since no limit on a process counts their memory, and so are filters."""
_IOCTLS = (0x5401, 0x540F, 0x5411, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x40049409)
"""TCGETS, TIOCGPGRP, TIOCOUTQ, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX, FICLONE. FIOSETOWN is
missing: with it, a program can have the kernel send signals to any process."""
_FCNTLS = (0, 1, 2, 3, 5, 6, 7, 9, 11, 36, 37, 38, 1030, 1032, 1034)
"""F_DUPFD, GETFD, SETFD, GETFL, GETLK, SETLK, SETLKW, GETOWN, GETSIG, OFD_GETLK, OFD_SETLK, OFD_SETLKW,
DUPFD_CLOEXEC, GETPIPE_SZ, GET_SEALS. F_SETOWN and F_SETSIG are missing, and so are F_SETLEASE and F_NOTIFY,
with which a reader of a file delays or watches other processes."""
_F_SETFL, _O_ASYNC, _F_SETPIPE_SZ, _USUAL_PIPE_BYTES = 4, 0x2000, 1031, 1 << 16
_PRCTLS = (
    *(2, 3, 7, 8, 15, 16, 21, 22, 23, 29, 30, 37, 38, 39, 40, 41, 42, 47, 52, 55, 56),
    0x53564D41,
)
"""GET_PDEATHSIG, GET_DUMPABLE, GET_KEEPCAPS, SET_KEEPCAPS, SET_NAME, GET_NAME, GET_SECCOMP,
SET_SECCOMP, CAPBSET_READ, SET_TIMERSLACK, GET_TIMERSLACK, GET_CHILD_SUBREAPER, SET_NO_NEW_PRIVS,
GET_NO_NEW_PRIVS, GET_TID_ADDRESS, SET_THP_DISABLE, GET_THP_DISABLE, CAP_AMBIENT, GET_SPECULATION_CTRL,
SET_TAGGED_ADDR_CTRL, GET_TAGGED_ADDR_CTRL, SET_VMA (names for memory)."""
_PRCTLS_WITH = {1: 9, 4: 1}
"""SET_PDEATHSIG to SIGKILL; SET_DUMPABLE to yes: the server must see the memory and open files of programs."""
_ARCH_PRCTLS = (*range(0x1001, 0x1005), *range(0x1021, 0x1025), 0x3001, *range(0x5001, 0x5006))
"""Base registers of threads, registers for matrices, shadow stacks; ARCH_SET_CPUID is missing."""
_RWF_NOWAIT = 0x8
"""RWF_NOWAIT, which reads only cached data and so reveals which files other processes have read. It fails as
on a file system without it."""
_MADV_MERGEABLE = 12
"""MADV_MERGEABLE, which merges equal pages of different processes. The time of a later write then reveals
whether another process has a page with the same content."""
_KINDS_OF_FILE, _REGULAR, _PIPE = 0o170000, 0o100000, 0o010000
_SET_MODE_FILTER, _ALL_THREADS, _NEW_LISTENER, _WAIT_KILLABLE = 1, 1, 8, 32
_UNASKED = frozenset({"clone3"})
"""Calls that every C library tries first but does not need. Their failure says nothing about a program."""


def _argument(number: int, high: bool = False) -> _Instruction:
    return _LOAD, 0, 0, 16 + 8 * number + (4 if high else 0)


def _fail(number: int = errno.EPERM) -> _Instruction:
    return _RETURN, 0, 0, _FAIL | number


_YES: _Instruction = (_RETURN, 0, 0, _ALLOW)


def _asked_instead(instruction: _Instruction) -> _Instruction:
    """The instruction; one that fails with EPERM or ENOSYS becomes one that asks."""
    fails = instruction in (_fail(errno.EPERM), _fail(errno.ENOSYS))
    return (_RETURN, 0, 0, _ASK) if fails else instruction


def _among(*values: int) -> list[_Instruction]:
    """Allow the call if the loaded value is one of these; else continue."""
    code: list[_Instruction] = []
    for value in values:
        code += [(_EQUAL, 0, 1, value & 0xFFFFFFFF), _YES]
    return code


def _only(argument: int, *values: int, otherwise: int = errno.EPERM) -> list[_Instruction]:
    """Allow the call where the low half of an argument is one of these values."""
    return [_argument(argument), *_among(*values), _fail(otherwise)]


def _if_is(argument: int, value: int, then: list[_Instruction]) -> list[_Instruction]:
    """Let `then` decide if the low half of an argument is the value; otherwise fail."""
    return [_argument(argument), (_EQUAL, 1, 0, value), _fail(), *then]


def _kinds(*kinds: int) -> list[_Instruction]:
    """Allow these kinds of UNIX sockets, but not datagrams, which can be sent to any path."""
    return _if_is(0, _AF_UNIX, [_argument(1), (_AND, 0, 0, _KIND_BITS), *_among(*kinds), _fail()])


def _asked_only(argument: int, value: int, pointer: int) -> list[_Instruction]:
    """Allow the call unless an argument has the value and the argument `pointer` is not null."""
    return [
        *(_argument(argument), (_EQUAL, 1, 0, value), _YES),
        *(_argument(pointer), (_EQUAL, 0, 3, 0), _argument(pointer, high=True), (_EQUAL, 0, 1, 0), _YES),
        _fail(),
    ]


def _with_arguments(name: str, *, owner_changes: bool, listening: bool, reaps: bool) -> list[_Instruction]:
    """The instructions for an allowed call. Most calls are allowed with any arguments."""
    match name:
        case "clone":
            thread = [(_AND, 0, 0, _CLONE_THREAD | _CLONE_FILES), (_EQUAL, 0, 1, _CLONE_THREAD), _fail()]
            return [_argument(0), (_ANY_BIT, 0, 1, _BAD_CLONES), _fail(), *thread, _YES]
        case "close_range":
            return [_argument(2), (_ANY_BIT, 0, 1, _CLOSE_RANGE_UNSHARE), _fail(), _YES]
        case "socketpair":  # asyncio's event loop cannot do without
            return _kinds(_STREAM, _SEQPACKET)
        case "socket":
            return _kinds(_STREAM)
        case "sendto":  # without an address, which is what `send` becomes
            zero = [(_EQUAL, 1, 0, 0), _fail()]
            return [_argument(4), *zero, _argument(4, high=True), *zero, _YES]
        case "madvise":  # as on a kernel that does not merge pages
            return [_argument(2), (_EQUAL, 0, 1, _MADV_MERGEABLE), _fail(errno.EINVAL), _YES]
        case "preadv2":
            return [_argument(5), (_ANY_BIT, 0, 1, _RWF_NOWAIT), _fail(errno.EOPNOTSUPP), _YES]
        case "setsockopt":
            return _if_is(1, _SOL_SOCKET, _only(2, *_SOCKET_OPTIONS))
        case "seccomp":  # until `inside.server.stop_listening`
            return _if_is(0, _SET_MODE_FILTER, _only(1, _ALL_THREADS))
        case "personality":
            return _only(0, 0xFFFFFFFF)  # asking is allowed
        case "sched_setscheduler" if listening:  # ZeroMQ's thread names itself, and ends where it may not
            return [_YES]
        case "prlimit64":  # its own, and not its mark
            return _if_is(0, 0, _asked_only(1, RLIMIT_LOCKS, 2))
        case "setrlimit":
            return [_argument(0), (_EQUAL, 0, 1, RLIMIT_LOCKS), _fail(), _YES]
        case "rt_sigaction" if reaps:
            return _asked_only(0, signal.SIGCHLD, 1)
        case "sched_setscheduler" | "sched_setattr" | "sched_setparam" | "sched_setaffinity":
            return _only(0, 0)  # its own
        case "setpriority":  # of a process, and not of all that a user has
            return _if_is(0, 0, _only(1, 0))
        case "ioprio_set":
            return _if_is(0, 1, _only(1, 0))
        case "prctl":
            code = [_argument(0)]
            for option, value in _PRCTLS_WITH.items():
                only = _only(1, value)
                code += [(_EQUAL, 0, len(only), option), *only]
            return [*code, *_among(*_PRCTLS), _fail(errno.EINVAL)]
        case "arch_prctl":
            return _only(0, *_ARCH_PRCTLS, otherwise=errno.EINVAL)
        case "ioctl":  # as of a file that does not know it
            return _only(1, *_IOCTLS, otherwise=errno.ENOTTY)
        case "fcntl":
            flags = [_argument(2), (_ANY_BIT, 0, 1, _O_ASYNC), _fail(), _YES]
            size = [_argument(2), (_ABOVE, 0, 1, _USUAL_PIPE_BYTES), _fail(), _YES]
            looked = [(_EQUAL, 0, 4, _F_SETFL), *flags, (_EQUAL, 0, 4, _F_SETPIPE_SZ), *size]
            return [_argument(1), *looked, *_among(*_FCNTLS), _fail()]
        case "mknod" | "mknodat":
            mode = [_argument(1 if name == "mknod" else 2), (_AND, 0, 0, _KINDS_OF_FILE)]
            return [*mode, *_among(0, _REGULAR, _PIPE), _fail()]
        # Where nobody may change modes, a folder that its owner cannot enter could not be removed.
        case "mkdir" | "mkdirat" if not owner_changes:
            where = _argument(1 if name == "mkdir" else 2)
            return [where, (_AND, 0, 0, 0o700), (_EQUAL, 0, 1, 0o700), _YES, _fail()]
        case "umask" if not owner_changes:
            return [_argument(0), (_ANY_BIT, 0, 1, 0o700), _fail(), _YES]
        case _ if name in _OWNER_CHANGES and not owner_changes:
            return [_fail()]
        case _:
            return [_YES]


def refuses(name: str, *, owner_changes: bool, listening: bool = False) -> int | None:
    """The error number of a system call that fails whatever its arguments; None if some are allowed.

    The other parameters are those of `program`.
    """
    if name in _OWNER_CHANGES and not owner_changes:
        return errno.EPERM
    if name in ALLOWED or (listening and name in _FOR_LISTENING):
        return None
    if name in _ATTRIBUTES:
        return errno.EOPNOTSUPP
    return errno.EPERM if name in REFUSED else errno.ENOSYS


def _tree(leaves: list[tuple[int, list[_Instruction]]]) -> list[_Instruction]:
    """Code that finds the leaf of a number. Leaves are sorted by their first number."""
    if len(leaves) == 1:
        return leaves[0][1]
    middle = len(leaves) // 2
    low, high = _tree(leaves[:middle]), _tree(leaves[middle:])
    return [(_AT_LEAST, 0, 1, leaves[middle][0]), (_JUMP, 0, 0, len(low)), *low, *high]


def answer_of(number: int) -> int:
    """The error number of a call that a filter with `asks` asks about."""
    return errno.EPERM if number in _numbers_with_names() else errno.ENOSYS


@functools.cache
def _numbers_with_names() -> frozenset[int]:
    column = 0 if MACHINE == "x86_64" else 1
    return frozenset(number for name in ALLOWED | REFUSED if (number := NUMBERS[name][column]) is not None)


def program(
    *, owner_changes: bool, listening: bool = False, reaps: bool = False, asks: bool = False
) -> bytes:
    """The filter as BPF instructions. Raises OSError if the numbers of this machine are unknown.

    Args:
        owner_changes: allow chmod and similar calls.
        listening: allow UNIX sockets that accept connections, for deskcheck's own code.
        reaps: keep the default of SIGCHLD, so that each child is waited for and its CPU time counts (wait(2)).
            Shells and make need a handler.
        asks: ask another process (`notices`) where a call would fail with EPERM or ENOSYS.
    """
    if MACHINE is None:
        raise OSError("seccomp: the system calls of this machine are not known here")
    column = 0 if MACHINE == "x86_64" else 1
    actions: dict[int, list[_Instruction]] = {}
    for name in sorted(ALLOWED | REFUSED):  # or where objects lie would depend on the hash seed
        number = NUMBERS[name][column]
        if number is None:
            continue
        if name in ALLOWED or (listening and name in _FOR_LISTENING):
            actions[number] = _with_arguments(
                name, owner_changes=owner_changes, listening=listening, reaps=reaps
            )
        else:
            answer = refuses(name, owner_changes=owner_changes, listening=listening)
            assert answer is not None
            actions[number] = [_fail(answer)]
    unknown = [_fail(errno.ENOSYS)]
    if asks:
        unasked = {NUMBERS[name][column] for name in _UNASKED}
        actions |= {number: unknown for number in unasked if number is not None}
        actions = {
            number: code if number in unasked else list(map(_asked_instead, code))
            for number, code in actions.items()
        }
        unknown = list(map(_asked_instead, unknown))
    leaves: list[tuple[int, list[_Instruction]]] = []
    for number in range(max(actions) + 2):
        action = actions.get(number, unknown)
        if not leaves or leaves[-1][1] != action:
            leaves.append((number, action))
    head: list[_Instruction] = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, _AUDIT_ARCH[MACHINE]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),
    ]
    if MACHINE == "x86_64":  # the x32 ABI has the same calls under other numbers
        head += [(_AT_LEAST, 2, 0, _NO_NUMBER), (_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _KILL)]
    return _packed(head + _tree(leaves))


def only_own_signals(pid: int) -> bytes:
    """A second filter, which allows signals only to this process and its group.

    It is for kernels whose Landlock does not confine signals. A program can then signal its own children by
    their group but not by their number.
    """
    assert MACHINE is not None
    column = 0 if MACHINE == "x86_64" else 1
    code: list[_Instruction] = [(_LOAD, 0, 0, 0)]
    for name in _SIGNALS:
        allowed = _only(0, pid, 0, -pid) if name == "kill" else _only(0, pid)
        code += [(_EQUAL, 0, len(allowed), NUMBERS[name][column] or 0), *allowed]
    return _packed([*code, _YES])


def _packed(code: list[_Instruction]) -> bytes:
    return b"".join(struct.pack("HBBI", *instruction) for instruction in code)


def attach(code: bytes, *, all_threads: bool = False, listener: bool = False) -> int:
    """Put this process and its future children under a filter, for good. Raises OSError.

    Args:
        all_threads: include the threads that already run. Without it, the process must have one thread.
        listener: the filter asks (`program`). The result is then the descriptor for the answers, otherwise 0.
    """
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    instructions = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(instructions))
    packed = ctypes.create_string_buffer(header, len(header))
    if listener:
        try:  # so that no signal interrupts a call that waits for its answer
            return syscall("seccomp", _SET_MODE_FILTER, _NEW_LISTENER | _WAIT_KILLABLE, packed)
        except OSError:  # before Linux 5.19
            return syscall("seccomp", _SET_MODE_FILTER, _NEW_LISTENER, packed)
    if not all_threads:
        prctl(PR_SET_SECCOMP, 2, packed)
    elif thread := syscall("seccomp", _SET_MODE_FILTER, _ALL_THREADS, packed):
        raise OSError(f"seccomp: thread {thread} cannot be put under the filter")
    return 0
