"""A seccomp filter: which system calls a process and its children may make, without any privilege.

The filter is a search tree over call numbers and not a list: on attaching one, the kernel runs it once
for every number (kernel/seccomp.c, seccomp_cache_prepare), and a list makes that 0.1 ms.

What is denied: new namespaces and mounts, sockets of every family (a socketpair is allowed), looking into or
steering other processes, io_uring, userfaultfd, perf, bpf, keys, memory that no limit counts, clocks, modules.
"""

import ctypes
import errno
import struct

from deskcheck.sandbox._kernel import MACHINE, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, prctl, syscall

_Instruction = tuple[int, int, int, int]
_LOAD, _JUMP, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN, _AND = 0x20, 0x05, 0x15, 0x35, 0x45, 0x06, 0x54
_ALLOW, _FAIL, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_BAD_CLONES = 0x7E028080
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET, NEWTIME; and CLONE_PARENT."""

# name: (x86_64, aarch64); None where the machine has no such call.
_NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "clone": (56, 220), "clone3": (435, 435), "unshare": (272, 97), "setns": (308, 268),
    "socket": (41, 198), "socketpair": (53, 199), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201),
    "accept": (43, 202), "accept4": (288, 242),
    "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240), "pidfd_send_signal": (424, 424),
    "pidfd_getfd": (438, 438), "ptrace": (101, 117), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "process_madvise": (440, 440), "process_mrelease": (448, 448), "kcmp": (312, 272),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428),
    "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "open_tree_attr": (467, 467), "statmount": (457, 457), "listmount": (458, 458),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263), "quotactl": (179, 60), "quotactl_fd": (443, 443), "swapon": (167, 224),
    "swapoff": (168, 225), "acct": (163, 89), "syslog": (103, 116), "reboot": (169, 142), "vhangup": (153, 58),
    "sethostname": (170, 161), "setdomainname": (171, 162), "iopl": (172, None), "ioperm": (173, None),
    "modify_ldt": (154, None), "init_module": (175, 105), "delete_module": (176, 106), "finit_module": (313, 273),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "adjtimex": (159, 171), "clock_adjtime": (305, 266), "bpf": (321, 280), "userfaultfd": (323, 282),
    "perf_event_open": (298, 241), "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "io_setup": (206, 0),
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "shmat": (30, 196), "semget": (64, 190),
    "msgget": (68, 186), "mq_open": (240, 180), "personality": (135, 92), "prlimit64": (302, 261),
    "sched_setscheduler": (144, 119), "sched_setattr": (314, 274), "sched_setparam": (142, 118),
    "sched_setaffinity": (203, 122), "setpriority": (141, 140), "ioprio_set": (251, 30), "migrate_pages": (256, 238),
    "move_pages": (279, 239), "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None),
    "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54), "utime": (132, None), "utimes": (235, None),
    "futimesat": (261, None), "utimensat": (280, 88), "removexattr": (197, 14), "lremovexattr": (198, 15),
    "fremovexattr": (199, 16), "removexattrat": (466, 466), "mlock": (149, 228), "lookup_dcookie": (212, 18),
    "mlock2": (325, 284), "mlockall": (151, 230), "ioctl": (16, 29), "fcntl": (72, 25),
    "mkdir": (83, None), "mkdirat": (258, 34), "umask": (95, 166),
}  # fmt: skip

_ANSWERS = {
    "clone3": errno.ENOSYS,  # its flags lie in memory, where a filter cannot look: libraries fall back on clone
    "memfd_create": errno.ENOSYS,
    "io_uring_setup": errno.ENOSYS,
    "setxattr": errno.EOPNOTSUPP,
    "lsetxattr": errno.EOPNOTSUPP,
    "fsetxattr": errno.EOPNOTSUPP,
    "setxattrat": errno.ENOSYS,
    "userfaultfd": errno.ENOSYS,
}
_LOOKED_INTO = frozenset(
    {"clone", "socketpair", "prlimit64", "personality", "ioctl", "fcntl"}
    | {
        "sched_setscheduler",
        "sched_setattr",
        "sched_setparam",
        "sched_setaffinity",
        "setpriority",
        "ioprio_set",
    }
)
_SIGNALS = ("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "tkill")
"""Left alone by the filter for all: see `only_own_signals`."""
_MODES = ("mkdir", "mkdirat", "umask")
"""Where nobody may change modes, a folder that its owner cannot enter could not be removed."""
_OWNER_CHANGES = frozenset(
    {"chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes"}
    | {"futimesat", "utimensat", "removexattr", "lremovexattr", "fremovexattr", "removexattrat"}
)
"""What Landlock leaves to the owner of a file: denied where the program runs as the user."""

_GIVEN_TO_OWNERS = _OWNER_CHANGES | {*_MODES}
_FOR_LISTENING = frozenset({"bind", "listen", "accept", "accept4", "sched_setscheduler"})
"""The last because ZeroMQ's thread sets its own priority by number, and ends the process where it may not."""
_SET_MODE_FILTER, _ALL_THREADS = 1, 1


def _argument(number: int, high: bool = False) -> _Instruction:
    return _LOAD, 0, 0, 16 + 8 * number + (4 if high else 0)


def _fail(number: int = errno.EPERM) -> _Instruction:
    return _RETURN, 0, 0, _FAIL | number


_YES: _Instruction = (_RETURN, 0, 0, _ALLOW)


def _only(argument: int, *values: int) -> list[_Instruction]:
    """Allow the call where the low half of an argument is one of these values."""
    code = [_argument(argument)]
    for value in values:
        code += [(_EQUAL, 0, 1, value & 0xFFFFFFFF), _YES]
    return [*code, _fail()]


def _looked_into(name: str) -> list[_Instruction]:
    match name:
        case "clone":
            return [_argument(0), (_ANY_BIT, 0, 1, _BAD_CLONES), _fail(), _YES]
        case "socketpair" | "socket":
            return _only(0, 1)  # AF_UNIX: asyncio's event loop cannot do without
        case "personality":
            return _only(0, 0xFFFFFFFF)  # asking is allowed
        case "prlimit64" | "sched_setscheduler" | "sched_setattr" | "sched_setparam" | "sched_setaffinity":
            return _only(0, 0)  # its own
        case "setpriority" | "ioprio_set":
            return _only(1, 0)
        case "mkdir" | "mkdirat":
            where = _argument(1 if name == "mkdir" else 2)
            return [where, (_AND, 0, 0, 0o700), (_EQUAL, 0, 1, 0o700), _YES, _fail()]
        case "umask":
            return [_argument(0), (_ANY_BIT, 0, 1, 0o700), _fail(), _YES]
        case "fcntl":  # having the kernel signal another process: F_SETOWN, F_SETOWN_EX
            return [_argument(1), (_EQUAL, 1, 0, 8), (_EQUAL, 0, 1, 15), _fail(), _YES]
        case _:  # ioctl: putting characters into a terminal's input, TIOCSTI and TIOCLINUX
            return [_argument(1), (_EQUAL, 1, 0, 0x5412), (_EQUAL, 0, 1, 0x541C), _fail(), _YES]


def _tree(leaves: list[tuple[int, list[_Instruction]]]) -> list[_Instruction]:
    """Code that finds the leaf of a number: of those sorted by their first number, the last not above it."""
    if len(leaves) == 1:
        return leaves[0][1]
    middle = len(leaves) // 2
    low, high = _tree(leaves[:middle]), _tree(leaves[middle:])
    return [(_AT_LEAST, 0, 1, leaves[middle][0]), (_JUMP, 0, 0, len(low)), *low, *high]


def program(*, owner_changes: bool, listening: bool = False) -> bytes:
    """The filter as BPF instructions. owner_changes: whether chmod and its kin are allowed. listening:
    whether UNIX sockets that others connect to are: for our own code, until it attaches the other filter.

    Raises OSError where the machine's numbers are not known.
    """
    if MACHINE is None:
        raise OSError("seccomp: the system calls of this machine are not known here")
    column = 0 if MACHINE == "x86_64" else 1
    actions: dict[int, list[_Instruction]] = {}
    for name, numbers in _NUMBERS.items():
        number = numbers[column]
        if number is None or name in _SIGNALS or (owner_changes and name in _GIVEN_TO_OWNERS):
            continue
        if listening and name in _FOR_LISTENING:
            continue
        looked = name in _LOOKED_INTO or name in _MODES or (listening and name == "socket")
        actions[number] = _looked_into(name) if looked else [_fail(_ANSWERS.get(name, errno.EPERM))]
    leaves: list[tuple[int, list[_Instruction]]] = [(0, [_YES])]
    for number in sorted(actions):
        if leaves[-1][0] == number:
            leaves.pop()
        if not leaves or leaves[-1][1] != actions[number]:
            leaves.append((number, actions[number]))
        if number + 1 not in actions:
            leaves.append((number + 1, [_YES]))
    head: list[_Instruction] = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, _AUDIT_ARCH[MACHINE]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),
    ]
    if MACHINE == "x86_64":  # the x32 ABI has the same calls under other numbers
        head += [(_AT_LEAST, 0, 1, 0x40000000), _fail(errno.ENOSYS)]
    return _packed(head + _tree(leaves))


def only_own_signals(pid: int) -> bytes:
    """A second filter: signals go to this process, its group and its groups' members only.

    For kernels whose Landlock does not confine signals. A program can then not signal its own children
    by number; it can by their group.
    """
    assert MACHINE is not None
    column = 0 if MACHINE == "x86_64" else 1
    code: list[_Instruction] = [(_LOAD, 0, 0, 0)]
    for name in _SIGNALS:
        allowed = _only(0, pid, 0, -pid) if name == "kill" else _only(0, pid)
        code += [(_EQUAL, 0, len(allowed), _NUMBERS[name][column] or 0), *allowed]
    return _packed([*code, _YES])


def _packed(code: list[_Instruction]) -> bytes:
    return b"".join(struct.pack("HBBI", *instruction) for instruction in code)


def attach(code: bytes, *, all_threads: bool = False) -> None:
    """Put this process and its future children under a filter, for good. Raises OSError.

    all_threads: those that run already too; without it, the process has one thread.
    """
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    instructions = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(instructions))
    packed = ctypes.create_string_buffer(header, len(header))
    if not all_threads:
        prctl(PR_SET_SECCOMP, 2, packed)
    elif thread := syscall("seccomp", _SET_MODE_FILTER, _ALL_THREADS, packed):
        raise OSError(f"seccomp: thread {thread} cannot be put under the filter")
