"""Functions without tests as a source of programs: ``inputs:FILE.py``, ``inputs:FOLDER``, ``inputs:PACKAGE``.

With ``table=FILE.jsonl``, an account of each function is written: the number of inputs tried and kept, or the
reason why there are none.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from deskcheck.recording import InputError, Program
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.sandbox import Sandbox
from deskcheck.sources.inputs.candidates import need_hypothesis
from deskcheck.sources.inputs.function_search import LIMITS, Account, EachFunction
from deskcheck.sources.inputs.search import WAYS, Effort
from deskcheck.sources.inputs.targets import SearchScope, scope_of
from deskcheck.sources.text.options import whole_number, with_options

PREFIX = "inputs"
_OPTIONS = {
    "each": "the largest number of inputs kept for a function, 10 by default",
    "budget": "inputs tried for each function, 60 by default",
    "by": "known, hints, hypothesis; several as known+hints, which is the default",
    "tests": "yes: also test files in a folder or a package; no by default",
    "table": "a file of JSON lines to write: inputs tried and kept for each function, or the reason for none",
    "workers": "functions that are tried at once, one for each processor by default",
    "sandbox": "confinement of the functions that are tried: strict, standard or trusted",
    "seed": "a number; another one gives other inputs",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """The options of a source."""

    effort: Effort
    seed: int
    level: Confinement
    tests: bool
    table: Path | None
    workers: int


def inputs(
    source: str,
    programs: Callable[[str], Iterator[Program]],
    *,
    is_set: Callable[[str], bool],
    note: Callable[[str], None],
    propose: Callable[[str], str] | None = None,
) -> Iterator[Program]:
    """Calls of functions, with inputs that were searched for.

    `input` in their `extra` tells how the input was made and why it was kept.

    programs: reads sources that already have inputs. is_set: whether a word names such a source. propose: see
    `find_inputs`. note: takes sentences about the numbers of inputs tried and kept, and the lines that they
    run.

    Raises:
        InputError: an option or the source cannot be used.
        MissingExtra: Hypothesis is needed and not installed.
    """
    head, colon, inner = source.partition(":")
    _, options = with_options(head, _OPTIONS, source)
    if not colon or not inner:
        raise InputError(
            f"{source}: names no functions. Write inputs:FILE.py, inputs:FILE.py::FUNCTION, inputs:FOLDER or "
            "inputs:PACKAGE"
        )
    request = _request_of(options, source)
    scope = scope_of(inner, programs, is_set=is_set, tests=request.tests)
    if request.table is not None and not request.table.absolute().parent.is_dir():
        raise InputError(
            f"{source}: table={request.table}: the folder {request.table.parent} does not exist."
        )
    if propose is not None:
        request = replace(request, workers=1)  # one thread asks the model
    return _Run(inner, request, note, propose).programs(scope)


def _request_of(options: dict[str, str], source: str) -> _Request:
    per_function = whole_number(options.get("each", "10"), "each", source, maximum=1000)
    budget = whole_number(options.get("budget", "60"), "budget", source, maximum=100_000)
    seed = whole_number(options.get("seed", "0"), "seed", source, minimum=0)
    workers = whole_number(options.get("workers", str(os.cpu_count() or 1)), "workers", source, maximum=1000)
    ways = tuple(options.get("by", "known+hints").split("+"))
    for way in ways:
        if way not in WAYS:
            raise InputError(
                f"{source}: by={options['by']}: unknown way {way!r}. The ways are {', '.join(WAYS)}."
            )
    if "hypothesis" in ways:
        need_hypothesis()
    level = options.get("sandbox", Confinement.STRICT.value)
    if level not in list(Confinement):
        raise InputError(
            f"{source}: sandbox={level}: unknown level. The levels are {', '.join(Confinement)}."
        )
    tests = options.get("tests", "no")
    if tests not in ("yes", "no"):
        raise InputError(f"{source}: tests={tests} must be yes or no.")
    return _Request(
        effort=Effort(per_function=per_function, budget=budget, ways=ways),
        seed=seed,
        level=Confinement(level),
        tests=tests == "yes",
        table=Path(options["table"]) if "table" in options else None,
        workers=workers,
    )


@dataclass(slots=True)
class _Run:
    """A search over all functions of a source."""

    inner: str
    request: _Request
    note: Callable[[str], None]
    propose: Callable[[str], str] | None

    def programs(self, scope: SearchScope) -> Iterator[Program]:
        request = self.request
        if scope.tests:
            self.note(f"{self.inner}: {scope.tests} test files are left out; tests=yes includes them")
        accounts: list[Account] = []
        if request.table is not None:
            request.table.write_text("", encoding="utf-8")
        with Sandbox(request.level, workers=request.workers, limits=LIMITS) as sandbox:
            search = EachFunction(sandbox, request.effort, request.seed, self.propose)
            if scope.targets is not None:
                results = search.of_targets(scope.targets, request.workers)
            else:
                results = search.of_files(scope.files, request.workers)
            with closing(results):
                for tried in results:
                    accounts.append(tried.account)
                    self._write(tried.account)
                    if not tried.had_inputs and (not scope.several or not tried.account.function):
                        self.note(_in_words(tried.account))
                    yield from tried.programs()
        for line in _summary(self.inner, accounts, several=scope.several and scope.targets is None):
            self.note(line)

    def _write(self, account: Account) -> None:
        if self.request.table is not None:
            with self.request.table.open("a", encoding="utf-8") as table:
                table.write(json.dumps(asdict(account)) + "\n")


# -- summaries ---------------------------------------------------------------------------------------


def _in_words(account: Account) -> str:
    if not account.function:
        return f"Left out: {account.file}: {account.why}"
    name = f"{account.file}::{account.function}"
    if not account.tried:
        return f"{name}: not tried: {account.why}"
    stopped = f"; a limit stopped {account.stopped}" if account.stopped else ""
    branches = f", {account.branches_run} of {account.branches} branches" if account.branches else ""
    return (
        f"{name}: {account.tried} inputs tried{stopped}, {account.kept} kept; they run "
        f"{account.lines_run} of {account.lines} lines{branches}"
    )


def _summary(inner: str, accounts: Sequence[Account], *, several: bool) -> Iterator[str]:
    tried = [account for account in accounts if account.tried]
    kept_inputs = sum(account.kept for account in tried)
    if not several:
        if len(tried) > 1:
            yield (
                f"{len(tried)} functions: {sum(account.tried for account in tried)} inputs tried, "
                f"{kept_inputs} kept"
            )
        return
    functions = [account for account in accounts if account.function]
    with_some = [account for account in tried if account.kept]
    lines, branches = sum(a.lines for a in tried), sum(a.branches for a in tried)
    yield (
        f"{inner}: {len(functions)} functions in {len({a.file for a in accounts})} files; {len(tried)} tried "
        f"with {sum(a.tried for a in tried)} inputs; {kept_inputs} kept, of {len(with_some)} functions; "
        "they run "
        f"{sum(a.lines_run for a in tried)} of {lines} lines and {sum(a.branches_run for a in tried)} of "
        f"{branches} branches of what was tried"
    )
    reasons = Counter(account.why for account in functions if not account.tried)
    if reasons:
        yield "not tried: " + "; ".join(f"{count} {reason}" for reason, count in reasons.most_common(12))
    none = len(tried) - len(with_some)
    if none:
        yield f"tried without success: {none} functions; inputs,table=FILE.jsonl:{inner} lists the reasons"
