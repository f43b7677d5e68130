"""The first difference between two runs of one program: of their rows as text, then of their states."""

import itertools
from collections.abc import Callable, Iterable

from deskcheck.recording.comparison.apart import compared_apart
from deskcheck.recording.comparison.states import Global, compared, first_difference
from deskcheck.recording.raised import raised_message
from deskcheck.recording.recording import RunResult

_HERE_BYTES = 150_000
"""Size of both runs' blocks up to which this process compares them itself. While states are compared, they
take up to 220 bytes of memory for each byte of forged rows."""


def difference(
    first: tuple[RunResult, Callable[[], Iterable[bytes]]],
    second: tuple[RunResult, Callable[[], Iterable[bytes]]],
    *,
    reads: Callable[[Global], bool] | None = None,
    unread: set[Global] | None = None,
) -> str | None:
    """The first difference between two runs, in words; None if they are the same.

    first, second: the ending of a run, and a function that returns its blocks of events from the start.
    reads: whether the run may read a global variable. Variables that it cannot read may differ, and are then
    added to `unread`. Without `reads`, the states of long runs are compared in another process.
    """
    first_result, second_result = first[0], second[0]
    where = _said(first_result, second_result)
    if where is not None:
        return where
    # A limit cuts two runs at different events: compare the events that both have.
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
    """The first difference between the endings of two runs, in words; None if they are the same.

    It compares the outcome, standard output, the result, and the exception with its message. If the runs had
    separate processes, it also compares the exit status, standard error and the files that they wrote.
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
    first_text, second_text = first.result, second.result
    if first_text == second_text:
        return None
    # The order of a set of objects depends on addresses. `compared` compares its members.
    in_no_order = (
        not first.result_builtin and first_text is not None and second_text is not None and "{" in first_text
    )
    if in_no_order and sorted(first_text or "") == sorted(second_text or ""):
        return None
    return f"result: {_cut(first_text)} and {_cut(second_text)}"


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
        first_digest, second_digest = first.files.get(path, "missing"), second.files.get(path, "missing")
        if first_digest != second_digest:
            return f"file {path!r}: {first_digest} and {second_digest}"
    return None
