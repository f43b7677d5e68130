"""Records what sources name into a folder: programs, calls that tests make, notebooks."""

import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from deskcheck.errors import InputError
from deskcheck.notebook.settings import PREFIXES, NotebookSettings
from deskcheck.notebook.trajectory.trajectory import SUFFIX
from deskcheck.recorder.settings import RecordSettings, SuiteSettings
from deskcheck.recording.program import Program
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sources.sources import TESTS
from deskcheck.tracer import tracer_class

if TYPE_CHECKING:
    from deskcheck.jobs import JobSummary
    from deskcheck.jobs.spread import Spread
    from deskcheck.notebook.kernel.record import Summary as NotebookSummary
    from deskcheck.recorder.programs import RecordSummary
    from deskcheck.recorder.suite import SuiteSummary
    from deskcheck.recorder.verify import ReferenceAgreement

_log = logging.getLogger(__name__)
Settings = RecordSettings | SuiteSettings | NotebookSettings
T = TypeVar("T", RecordSettings, SuiteSettings, NotebookSettings)
Advance = Callable[..., None]
"""Told ``(what)`` where one more is done, or ``(what, done, of)``."""
_MANY, _SOME = 1000, 20
"""Of more new recordings than the first, so many are recorded again by the reference tracer."""


class SourceKind(StrEnum):
    """What sources name. Sources of two kinds are not recorded together."""

    PROGRAMS = "programs"
    TESTS = "tests"
    NOTEBOOKS = "notebooks"


@dataclass(slots=True)
class Done:
    """What `record` did: what it says of the recordings, and how some of them compare with the reference
    tracer, where they were compared. unusable: source, or place of a row -> why it could not be read."""

    kind: SourceKind
    summary: "RecordSummary | SuiteSummary | JobSummary | NotebookSummary"
    agreement: "ReferenceAgreement | None" = None
    unusable: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        told = self.summary.to_dict()
        if self.unusable:
            told["unusable"] = self.unusable
        return told if self.agreement is None else told | {"against_reference": self.agreement.to_dict()}


def kind_of(sources: Sequence[str]) -> SourceKind:
    """Raises InputError for sources of two kinds, and for tests of two projects."""
    found = {source: _kind(source) for source in sources}
    kinds = {*found.values()}
    if SourceKind.NOTEBOOKS in kinds and len(kinds) > 1:
        other = next(source for source, kind in found.items() if kind is not SourceKind.NOTEBOOKS)
        raise InputError(f"{other}: is no notebook, and those are recorded by themselves.")
    if SourceKind.TESTS in kinds and len(sources) > 1:
        raise InputError(
            f"{sources[0]}: the tests of a project are recorded by themselves: name one pytest:PATH."
        )
    return kinds.pop() if kinds else SourceKind.PROGRAMS


def _kind(source: str) -> SourceKind:
    if source.endswith((".ipynb", SUFFIX)) or source.startswith(PREFIXES):
        return SourceKind.NOTEBOOKS
    return SourceKind.TESTS if source.startswith(TESTS) else SourceKind.PROGRAMS


def record(
    *sources: str,
    out: str | os.PathLike[str],
    settings: Settings | None = None,
    spread: "Spread | None" = None,
    propose: Callable[[str], str] | None = None,
    progress: Advance = lambda what, done=None, of=None: None,
    note: Callable[[str], None] = _log.warning,
) -> Done:
    """Record what sources name into a folder. What is there already is not recorded again.

    sources: as `deskcheck record` takes them (`deskcheck.sources.SOURCES`); after ``FILE.py::FUNCTION`` comes
    its argument list. settings: what decides the recordings, of the class that goes with the sources:
    `RecordSettings` for programs, `SuiteSettings` for ``pytest:PATH``, `NotebookSettings` for notebooks.
    spread: over how many processes, in shards or not. propose: asked for inputs by ``inputs:FILE.py``.
    progress: told what is done. note: told, a sentence at a time, what the user should know.

    A row of a data file that cannot be used is left out: `note` and `Done.unusable` say why.
    Of more than 1,000 new recordings of programs 20 are recorded again by the reference tracer and compared.
    An interrupt keeps what is finished; the same call goes on from there. Of several sources of programs, one
    that cannot be used costs only itself (`Done.unusable`).

    Raises:
        InputError: none of the sources can be used, or not the folder; settings for another kind of source.
        RecordingError: the folder cannot be written to.
        SandboxError: this machine does not give what the level of confinement needs.
    """
    from deskcheck.jobs.spread import Spread

    kind = kind_of(sources)
    spread = spread or Spread()
    if kind is not SourceKind.PROGRAMS and spread.in_shards:
        raise InputError(
            f"{sources[0]}: --shards, --on, --ray-address and --replace are for programs, "
            "not for notebooks and pytest."
        )
    if kind is SourceKind.NOTEBOOKS:
        return Done(kind, _notebooks(sources, Path(out), _of(NotebookSettings, settings), spread, progress))
    if kind is SourceKind.TESTS:
        return Done(kind, _tests(sources[0], Path(out), _of(SuiteSettings, settings), spread, progress, note))
    unusable: dict[str, str] = {}
    programs = programs_of(sources, propose=propose, note=note, unusable=unusable)
    done = _programs(programs, Path(out), _of(RecordSettings, settings), spread, progress, note)
    done.unusable = unusable
    return done


def _of(wanted: type[T], given: Settings | None) -> T:
    if given is None:
        return wanted()
    if not isinstance(given, wanted):
        raise InputError(f"{type(given).__name__}: these sources take {wanted.__name__}.")
    return given


# -- of each kind ----------------------------------------------------------------------------------


def _programs(
    programs: Iterator[Program],
    out: Path,
    settings: RecordSettings,
    spread: "Spread",
    progress: Advance,
    note: Callable[[str], None],
) -> Done:
    from deskcheck.recorder.programs import record_programs, slow

    summary: RecordSummary | JobSummary
    if spread.in_shards:
        from deskcheck.jobs.plan import SIZE
        from deskcheck.recorder.job import record_job, tracer_there

        if tracer_there(settings) == "reference":
            note(slow(settings.python))
        summary = record_job(
            programs,
            out,
            runner=spread.runner(),
            settings=settings,
            size=spread.shards or SIZE,
            replace=spread.replace,
            progress=lambda now: progress(str(now), now.done, now.of),
        )
    else:
        summary = record_programs(
            programs,
            out,
            settings,
            workers=spread.workers,
            progress=lambda program, run_result: progress(program.id),
            note=note,
        )
    return Done(
        SourceKind.PROGRAMS,
        summary,
        _compare_some(summary.recorded, out, settings.sandbox, spread.workers, progress),
    )


def _compare_some(
    new: int, out: Path, confinement: Confinement, workers: int, progress: Advance
) -> "ReferenceAgreement | None":
    """What `against_reference` finds of some recordings, where many were made. None where they were not, or
    by the reference itself."""
    from deskcheck.recorder.verify import REFERENCE, against_reference
    from deskcheck.recording.reader import Recordings

    if new <= _MANY or tracer_class().name == REFERENCE:
        return None
    return against_reference(
        Recordings(out), most=_SOME, workers=workers, confinement=confinement, progress=progress
    )


def _tests(
    source: str,
    out: Path,
    settings: SuiteSettings,
    spread: "Spread",
    progress: Advance,
    note: Callable[[str], None],
) -> "SuiteSummary":
    from deskcheck.recorder.suite import find_suite, record_suite

    suite = find_suite(source, packages=settings.package, python=settings.python)
    done = record_suite(suite, out, settings, workers=spread.workers, progress=progress)
    if done.account is not None and done.account.slow:
        note(done.account.slow)
    return done


def _notebooks(
    sources: Sequence[str], out: Path, settings: NotebookSettings, spread: "Spread", progress: Advance
) -> "NotebookSummary":
    from deskcheck.notebook.kernel.record import record_notebooks

    return record_notebooks(sources, out, settings, workers=spread.workers, progress=progress)


# -- sources of programs ---------------------------------------------------------------------------


def programs_of(
    sources: Sequence[str],
    *,
    propose: Callable[[str], str] | None = None,
    note: Callable[[str], None] = _log.warning,
    unusable: dict[str, str] | None = None,
) -> Iterator[Program]:
    """The programs of all sources. Each source is looked up before the first program is given out.

    unusable: takes those of several sources that cannot be used, with the reason. Raises InputError where no
    source can be used, and without `unusable` where one cannot.
    """
    from deskcheck.sources import programs

    found: list[Iterator[Program]] = []
    errors: dict[str, InputError] = {}

    def refuse(place: str, why: str) -> None:
        assert unusable is not None
        unusable[place] = why
        note(f"left out: {why.partition(chr(10))[0]}")

    row = None if unusable is None else refuse
    for source, arguments in with_arguments(sources):
        try:
            found.append(programs(source, arguments, note=note, propose=propose, refuse=row))
        except InputError as error:
            if unusable is None:
                raise
            errors[source] = error
    if errors and not found:
        raise next(iter(errors.values()))
    if unusable is not None:
        unusable |= {source: str(error) for source, error in errors.items()}
    return _all_of(found)


def _all_of(found: Iterable[Iterator[Program]]) -> Iterator[Program]:
    for programs in found:
        yield from programs


def with_arguments(sources: Sequence[str]) -> list[tuple[str, str | None]]:
    """Sources with their argument lists: one follows the call that it belongs to."""
    asked: list[tuple[str, str | None]] = []
    for text in sources:
        if asked and "::" in asked[-1][0] and asked[-1][1] is None and not _may_be_source(text):
            asked[-1] = (asked[-1][0], text)
        else:
            asked.append((text, None))
    return asked


def _may_be_source(text: str) -> bool:
    """Whether a word after a call is not meant as its arguments, however wrongly written."""
    if text.lstrip().startswith("("):
        return False
    named = re.match(r"[\w+-]+(,[\w=+-]+)*:", text) or "::" in text or text.endswith((".py", ".jsonl", ".gz"))
    return bool(named) or text.replace(".", "_").isidentifier() or os.path.exists(text)
