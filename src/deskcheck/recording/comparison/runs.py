"""Where two runs of one program first differ. Rows are compared as text, and where texts differ as states."""

import itertools
from collections.abc import Callable, Iterable

from deskcheck.recording.comparison.apart import compared_apart
from deskcheck.recording.comparison.states import Global, compared, first_difference
from deskcheck.recording.raised import raised_message
from deskcheck.recording.recording import RunResult

_HERE_BYTES = 150_000
"""Of both runs. Their states fill, while they are compared, some 220 bytes for each byte of forged rows."""


def difference(
    first: tuple[RunResult, Callable[[], Iterable[bytes]]],
    second: tuple[RunResult, Callable[[], Iterable[bytes]]],
    *,
    reads: Callable[[Global], bool] | None = None,
    unread: set[Global] | None = None,
) -> str | None:
    """Where two runs first differ, in words; None if they are the same.

    Each run is its ending and a function that gives its blocks of events from the start. reads: whether the
    run may read a global variable; others may differ, and are then added to `unread`. Without it, another
    process compares the states of long runs, so that they fill none of this one's memory.
    """
    first_result, second_result = first[0], second[0]
    where = _said(first_result, second_result)
    if where is not None:
        return where
    # Where a limit cut both, it did so at no particular event: what both have is compared.
    cut = first_result.cut is not None and second_result.cut is not None
    pair = zip if cut else itertools.zip_longest
    if all(a == b for a, b in pair(first[1](), second[1]())):
        return _result(first_result, second_result) or _rest(first_result, second_result)
    if reads is None and sum(len(block) for run in (first, second) for block in run[1]()) > _HERE_BYTES:
        where = compared_apart(first[1], second[1], cut=cut)
    else:
        where = compared(first[1](), second[1](), cut=cut, reads=reads, unread=unread)
    return where or _rest(first_result, second_result)


def ending_difference(first: RunResult, second: RunResult) -> str | None:
    """Where the endings of two runs first differ, in words; None if they are the same.

    Compared are the outcome, standard output, the result, the exception with its message, and of a process of
    its own also the exit status, standard error and the files that it wrote.
    """
    return _said(first, second) or _result(first, second) or _rest(first, second)


def _said(first: RunResult, second: RunResult) -> str | None:
    if first.outcome != second.outcome:
        return f"outcome: {_outcome(first)} and {_outcome(second)}"
    if first.stdout != second.stdout:
        return f"output: {first_difference(first.stdout, second.stdout)}"
    return None


def _outcome(run_result: RunResult) -> str:
    detail = run_result.detail.splitlines()
    return f"{run_result.outcome} ({detail[0]:.80})" if detail else run_result.outcome


def _result(first: RunResult, second: RunResult) -> str | None:
    a, b = first.result, second.result
    if a == b:
        return None
    # The members of a set of objects follow their addresses, and are compared where the states are known.
    in_no_order = not first.result_builtin and a is not None and b is not None and "{" in a
    if in_no_order and sorted(a or "") == sorted(b or ""):
        return None
    return f"result: {_cut(a)} and {_cut(b)}"


def _cut(text: str | None) -> str:
    return "none" if text is None else text if len(text) <= 80 else f"{text[:80]}..."


def _rest(first: RunResult, second: RunResult) -> str | None:
    if first.exception != second.exception:
        return f"exception: {first.exception} and {second.exception}"
    messages = raised_message(first), raised_message(second)
    if None not in messages and messages[0] != messages[1]:
        return f"message: {messages[0]!r} and {messages[1]!r}"
    if first.exit_status is None or second.exit_status is None:  # in a process with others
        return None
    if first.exit_status != second.exit_status:
        return f"exit status: {first.exit_status} and {second.exit_status}"
    if first.stderr != second.stderr:
        return f"standard error: {first_difference(first.stderr, second.stderr)}"
    for path in sorted(first.files.keys() | second.files.keys()):
        a, b = first.files.get(path, "not there"), second.files.get(path, "not there")
        if a != b:
            return f"file {path!r}: {a} and {b}"
    return None
