"""The system call filter: a list of what is allowed, decided for every number, and by arguments where these matter."""

import errno
import struct
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskcheck.sandbox.linux import call_numbers
from deskcheck.sandbox.linux import kernel as _kernel
from deskcheck.sandbox.linux import seccomp as _seccomp
from deskcheck.sandbox.linux.call_numbers import NUMBERS, REFUSED
from tests.sample import examples
from tests.sandbox.processes import in_new_interpreter

X86, ARM, I386 = 0xC000003E, 0xC00000B7, 0x40000003
ALLOWED, KILLED = 0x7FFF0000, 0x80000000
COLUMN = {"x86_64": 0, "aarch64": 1}[_kernel.MACHINE or "x86_64"]
ARCH = (X86, ARM)[COLUMN]


UPROBES = {335, 336}
"""Of the kernel's own probes: it lets no filter decide about them, and answers others with SIGILL."""


def decided(code: bytes, number: int, *arguments: int, arch: int = ARCH) -> int:
    """What a filter says of a call, by the rules of classic BPF (linux/filter.h): the action, with its number."""
    padded = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    call = struct.pack("IIQ6Q", number & 0xFFFFFFFF, arch, 0, *(a & 2**64 - 1 for a in padded))
    instructions = list(struct.iter_unpack("HBBI", code))
    at = loaded = 0
    while True:
        operation, yes, no, operand = instructions[at]
        at += 1
        match operation:
            case 0x20:
                (loaded,) = struct.unpack_from("I", call, operand)
            case 0x54:
                loaded &= operand
            case 0x05:
                at += operand
            case 0x15:
                at += yes if loaded == operand else no
            case 0x25:
                at += yes if loaded > operand else no
            case 0x35:
                at += yes if loaded >= operand else no
            case 0x45:
                at += yes if loaded & operand else no
            case 0x06:
                return int(operand)
            case _:
                raise AssertionError(f"no such instruction here: {operation:#x}")


def failed(number: int) -> int:
    return 0x00050000 | number


def numbers(names: frozenset[str]) -> set[int]:
    return {found for name in names if (found := NUMBERS[name][COLUMN]) is not None}


FILTERS = {
    "strict": _seccomp.program(owner_changes=True),
    "user": _seccomp.program(owner_changes=False),
    "listening": _seccomp.program(owner_changes=True, listening=True),
    "reaps": _seccomp.program(owner_changes=True, reaps=True),
}


@pytest.mark.parametrize("code", FILTERS.values(), ids=FILTERS)
def test_every_number_is_allowed_by_the_list_refused_by_name_or_unknown(code: bytes) -> None:
    """What stands on neither list fails as on a kernel that does not have it, whatever the arguments."""
    known = numbers(call_numbers.ALLOWED | REFUSED)
    for number in (*range(1024), 0x3FFFFFFF, 0xFFFFFFFF):
        if number not in known:
            assert decided(code, number, 1, 2, 3) == failed(errno.ENOSYS), number
    open_to_all = {number for number in known if decided(code, number) == ALLOWED}
    assert open_to_all <= numbers(call_numbers.ALLOWED | _seccomp._FOR_LISTENING)
    assert numbers(frozenset("read write openat mmap futex execve exit_group wait4".split())) <= open_to_all


def test_what_is_refused_by_name_is_refused() -> None:
    for name in REFUSED:
        number = NUMBERS[name][COLUMN]
        if number is not None:
            answer = errno.EOPNOTSUPP if name.endswith("xattr") else errno.EPERM
            assert decided(FILTERS["strict"], number, 0, 0, 0) == failed(answer), name


@pytest.mark.parametrize("code", FILTERS.values(), ids=FILTERS)
@settings(deadline=None, max_examples=examples(20))
@given(number=st.integers(0, 1024), arguments=st.lists(st.integers(0, 2**64 - 1), max_size=6))
def test_a_foreign_architecture_is_killed(code: bytes, number: int, arguments: list[int]) -> None:
    """Whatever the call: its numbers mean something else."""
    assert decided(code, number, *arguments, arch=I386) == KILLED
    if ARCH == X86:
        assert decided(code, 0x40000000 | number, *arguments) == KILLED


def test_who_is_asked_decides_nothing() -> None:
    """A filter that asks does so exactly where the other one fails with EPERM or ENOSYS; the answer is that
    number. It asks nobody about a call that every C library makes and does without."""
    asking = _seccomp.program(owner_changes=False, asks=True)
    known = numbers(call_numbers.ALLOWED | REFUSED)
    arguments = [(), (1, 1), (2, 9, 3), (0, 5, 19), (0xFFFFFFFF,), (4, 0x2800, 0x2800, 0, 9)]
    asked = set()
    for number in (*range(512), 0x3FFFFFFF):
        for values in arguments:
            plain, other = (decided(code, number, *values) for code in (FILTERS["user"], asking))
            if other != plain:
                asked.add(number)
                assert other == 0x7FC00000
                assert plain == failed(_seccomp.answer_of(number)), number
            elif number != NUMBERS["clone3"][COLUMN]:
                assert plain not in (failed(errno.EPERM), failed(errno.ENOSYS)), number
    assert asked >= numbers(frozenset("socket chroot chmod socketpair fcntl".split())) - {None}
    assert 0x3FFFFFFF in asked
    assert asked - known


YES, NO = ALLOWED, failed(errno.EPERM)
CASES = [
    (name, tuple(arguments), YES if answer == "allowed" else failed(getattr(errno, answer)))
    for name, rows in tomllib.loads(Path(__file__).with_name("filter.toml").read_text("utf-8")).items()
    for arguments, answer in rows
]


@pytest.mark.parametrize(("name", "arguments", "answer"), CASES)
def test_arguments_decide(name: str, arguments: tuple[int, ...], answer: int) -> None:
    """A call is allowed for what programs need of it, and not for what it does to others."""
    number = NUMBERS[name][COLUMN]
    if number is None:
        pytest.skip(f"this machine has no {name}: would have proved that its arguments decide")
    assert decided(FILTERS["strict"], number, *arguments) == answer


def test_each_call_whose_arguments_decide_is_tried_and_documented() -> None:
    """Both ways here, and by its name on the page of the sandbox."""
    page = (Path(__file__).parents[2] / "docs" / "explanation" / "sandbox.md").read_text()
    section = page.partition("\n## The system call filter\n")[2].partition("\n## ")[0]
    missing = []
    for name in sorted(call_numbers.ALLOWED):
        code = _seccomp._with_arguments(name, owner_changes=True, listening=False, reaps=False)
        if code == [_seccomp._YES]:
            continue
        answers = [answer for tried, _, answer in CASES if tried == name]
        if YES not in answers:
            missing.append(f"{name}: arguments that are allowed, in tests/sandbox/filter.toml")
        if not any(answer != YES for answer in answers):
            missing.append(f"{name}: arguments that are refused, in tests/sandbox/filter.toml")
        if f"`{name}`" not in section:
            missing.append(f"{name}: its name in docs/explanation/sandbox.md, The system call filter")
    assert not missing, "\n".join(["missing:", *missing])


def test_modes_and_owners_are_left_alone_where_the_files_are_the_users() -> None:
    """Landlock does not rule them, so the filter does."""
    for name, arguments in {
        "fchmodat": (),
        "fchown": (),
        "utimensat": (),
        "mkdirat": (3, 1, 0o500),
        "umask": (0o700,),
    }.items():
        number = NUMBERS[name][COLUMN] or 0
        assert decided(FILTERS["strict"], number, *arguments) == YES, name
        assert decided(FILTERS["user"], number, *arguments) == NO, name


def test_children_are_waited_for_where_nothing_else_counts_them() -> None:
    """SIGCHLD cannot be ignored or handled; it can be asked for, and other signals can be handled."""
    number = NUMBERS["rt_sigaction"][COLUMN] or 0
    for arguments, answer in (((17, 8), NO), ((17, 1 << 40), NO), ((17, 0), YES), ((15, 8), YES)):
        assert decided(FILTERS["reaps"], number, *arguments) == answer, arguments
        assert decided(FILTERS["strict"], number, *arguments) == YES, arguments


def test_our_own_code_listens_until_it_says_so() -> None:
    """The filter of kernels allows sockets of the file system, and nothing else more."""
    for name, arguments in (
        ("socket", (1, 1)),
        ("bind", ()),
        ("accept4", ()),
        ("sched_setscheduler", (9,)),
        ("seccomp", (1, 1)),
    ):
        number = NUMBERS[name][COLUMN] or 0
        assert decided(FILTERS["listening"], number, *arguments) == YES, name
        assert decided(FILTERS["strict"], number, *arguments) == NO, name
    for name, arguments in (("socket", (2, 1)), ("socket", (1, 2)), ("connect", ()), ("seccomp", (1, 8))):
        assert decided(FILTERS["listening"], NUMBERS[name][COLUMN] or 0, *arguments) == NO, name


def test_the_kernel_decides_as_it_is_read_here() -> None:
    """In a process under the filter, every number that it does not know fails so, and those it refuses too."""
    code = (
        "import ctypes, os\n"
        "from deskcheck.sandbox.linux import seccomp as _seccomp\n"
        "_seccomp.attach(_seccomp.program(owner_changes=True))\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        f"for number in {sorted(set(range(600)) - numbers(call_numbers.ALLOWED) - UPROBES)}:\n"
        "    ctypes.set_errno(0)\n"
        "    print(number, libc.syscall(number, 0, 0, 0, 0, 0, 0), ctypes.get_errno())\n"
    )
    shown = in_new_interpreter(code)
    rows = [tuple(map(int, line.split())) for line in shown.stdout.splitlines()]
    assert len(rows) > 300
    for number, result, error in rows:
        assert (result, failed(error)) == (-1, decided(FILTERS["strict"], number)), number


def test_an_alien_call_names_itself() -> None:
    """A process that calls by x32's numbers is killed by SIGSYS."""
    if ARCH != X86:
        pytest.skip("x32 is of x86-64: would have proved that its calls end the process")
    code = (
        "import ctypes\nfrom deskcheck.sandbox.linux import seccomp as _seccomp\n"
        "_seccomp.attach(_seccomp.program(owner_changes=True))\nctypes.CDLL(None).syscall(0x40000000 | 39)\n"
    )
    assert in_new_interpreter(code, check=False).returncode == -31
