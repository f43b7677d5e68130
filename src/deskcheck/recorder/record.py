"""Records sources into a folder: programs, calls that tests make, notebooks."""

import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from deskcheck.errors import InputError
from deskcheck.notebook.settings import PREFIXES, NotebookSettings
from deskcheck.notebook.trajectory.trajectory import SUFFIX
from deskcheck.recorder.filters.masking import mask_around
from deskcheck.recorder.program_input import ProgramInput, with_input
from deskcheck.recorder.settings import RecordSettings, SuiteSettings
from deskcheck.recording.program import Program
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sources.sources import TESTS
from deskcheck.tracer import tracer_class
from deskcheck.words import list_lines

if TYPE_CHECKING:
    from deskcheck.jobs.spread import Spread
    from deskcheck.recorder.verify import ReferenceAgreement

_log = logging.getLogger(__name__)
Settings = RecordSettings | SuiteSettings | NotebookSettings
T = TypeVar("T", RecordSettings, SuiteSettings, NotebookSettings)
Advance = Callable[..., None]
"""Called with a text after each item, or with a text, the number of finished items and the total."""
_MANY, _SOME = 1000, 20
"""If more recordings than the first number are made, the second number of them is compared."""


class SourceKind(StrEnum):
    """The contents of sources. One call records sources of one kind."""

    PROGRAMS = "programs"
    TESTS = "tests"
    NOTEBOOKS = "notebooks"


class Summary(Protocol):
    """The result of recording, in numbers and in words."""

    @property
    def recorded(self) -> int: ...

    @property
    def in_folder(self) -> int:
        """Number of recordings in the folder, new and old."""

    @property
    def problems(self) -> dict[str, str]:
        """Name -> how deskcheck failed on it."""

    def lines(self, out: Path) -> Iterator[str]:
        """Sentences for a person."""

    def to_dict(self) -> dict[str, Any]: ...


@dataclass(slots=True)
class RecordResult:
    """The result of `record`."""

    kind: SourceKind
    summary: Summary
    agreement: "ReferenceAgreement | None" = None
    """Comparison of some recordings with the reference tracer, if it was made."""
    unusable: dict[str, str] = field(default_factory=dict)
    """Source or location of a row -> the reason why it could not be read."""

    @property
    def exit_status(self) -> int:
        """The exit status: 1 if nothing was recorded or recordings differ, 2 if deskcheck failed."""
        failed = bool(self.summary.problems or self.unusable)
        match self.kind:
            case SourceKind.TESTS:
                return 0
            case SourceKind.NOTEBOOKS:
                return 1 if failed else 0
        if failed:
            return 2
        differs = self.agreement is not None and self.agreement.different
        return 1 if differs or not self.summary.in_folder else 0

    def lines(self, out: Path) -> Iterator[str]:
        """Sentences for a person."""
        yield from self.summary.lines(out)
        unusable = {source: reason.removeprefix(f"{source}: ") for source, reason in self.unusable.items()}
        yield from list_lines("sources and rows that cannot be used", unusable)
        if self.agreement is not None:
            yield from self.agreement.lines()

    def to_dict(self) -> dict[str, Any]:
        values = self.summary.to_dict()
        if self.unusable:
            values["unusable"] = self.unusable
        return values if self.agreement is None else values | {"against_reference": self.agreement.to_dict()}


def kind_of(sources: Sequence[str]) -> SourceKind:
    """The kind of all sources. Raises InputError for sources of two kinds, and for tests of two projects."""
    kind_by_source = {source: _kind(source) for source in sources}
    kinds = {*kind_by_source.values()}
    if SourceKind.NOTEBOOKS in kinds and len(kinds) > 1:
        program = next(source for source, kind in kind_by_source.items() if kind is not SourceKind.NOTEBOOKS)
        raise InputError(f"{program}: is not a notebook. Record notebooks with a separate command.")
    if SourceKind.TESTS in kinds and len(sources) > 1:
        raise InputError(
            f"{sources[0]}: record the tests of a project with a separate command, for one pytest:PATH."
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
    program_input: ProgramInput | None = None,
    progress: Advance = lambda what, result=None, of=None: None,
    note: Callable[[str], None] = _log.warning,
) -> RecordResult:
    """Record sources into a folder, without repeating recordings that it already has.

    If a row of a data file, or one of several sources, cannot be used, it is left out
    (`RecordResult.unusable`). If more than 1,000 recordings of programs are made, 20 of them are compared
    with the reference tracer. After an interrupt the same call resumes.

    sources: as of `deskcheck record` (`deskcheck.sources.SOURCES`); an argument list follows its
    ``FILE.py::FUNCTION``. settings: `RecordSettings` for programs, `SuiteSettings` for ``pytest:PATH``,
    `NotebookSettings` for notebooks. spread: processes, and shards if any. propose: makes inputs for
    ``inputs:FILE.py``. program_input: arguments and standard input, if the only source is a script. note:
    called with sentences for the user.

    Raises:
        InputError: no source can be used, the folder cannot be used, or settings are for other sources.
        RecordingError: the folder cannot be written to.
        SandboxError: this machine cannot confine programs at this level.
    """
    from deskcheck.jobs.spread import Spread

    kind = SourceKind.PROGRAMS if program_input else kind_of(sources)
    spread = spread or Spread()
    if program_input and spread.in_shards:
        raise InputError(f"{sources[0]}: is one program with its input, and cannot be recorded in shards.")
    if kind is not SourceKind.PROGRAMS and spread.in_shards:
        raise InputError(
            f"{sources[0]}: --shards, --on, --ray-address and --replace are only for programs, "
            "not for notebooks and pytest."
        )
    if kind is SourceKind.NOTEBOOKS:
        return RecordResult(
            kind, _notebooks(sources, Path(out), _of(NotebookSettings, settings), spread, progress)
        )
    if kind is SourceKind.TESTS:
        return RecordResult(
            kind, _tests(sources[0], Path(out), _of(SuiteSettings, settings), spread, progress, note)
        )
    unusable: dict[str, str] = {}
    if program_input:
        programs = iter([script_of(sources, program_input, note)])
    else:
        programs = programs_of(sources, propose=propose, note=note, unusable=unusable)
    result = _programs(programs, Path(out), _of(RecordSettings, settings), spread, progress, note)
    result.unusable = unusable
    return result


def _of(settings_class: type[T], settings: Settings | None) -> T:
    if settings is None:
        return settings_class()
    if not isinstance(settings, settings_class):
        raise InputError(f"{type(settings).__name__}: these sources take {settings_class.__name__}.")
    return settings


# -- of each kind ----------------------------------------------------------------------------------


def _programs(
    programs: Iterator[Program],
    out: Path,
    settings: RecordSettings,
    spread: "Spread",
    progress: Advance,
    note: Callable[[str], None],
) -> RecordResult:
    from deskcheck.recorder.programs import record_programs, slow

    summary: Summary
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
            progress=lambda now: progress(str(now), now.finished, now.total),
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
    return RecordResult(
        SourceKind.PROGRAMS,
        summary,
        _compare_some(summary.recorded, out, settings.sandbox, spread.workers, progress),
    )


def _compare_some(
    new: int, out: Path, confinement: Confinement, workers: int, progress: Advance
) -> "ReferenceAgreement | None":
    """The comparison of some recordings, if many were made by a tracer other than the reference."""
    from deskcheck.recorder.verify import REFERENCE, against_reference
    from deskcheck.recording.reader import Recordings

    if new <= _MANY or tracer_class().name == REFERENCE:
        return None
    return against_reference(
        Recordings(out), max_count=_SOME, workers=workers, confinement=confinement, progress=progress
    )


def _tests(
    source: str,
    out: Path,
    settings: SuiteSettings,
    spread: "Spread",
    progress: Advance,
    note: Callable[[str], None],
) -> Summary:
    from deskcheck.recorder.suite import find_suite, record_suite

    suite = find_suite(source, packages=settings.package, python=settings.python)
    summary = record_suite(suite, out, settings, workers=spread.workers, progress=progress)
    if summary.account is not None and summary.account.slow:
        note(summary.account.slow)
    return summary


def _notebooks(
    sources: Sequence[str], out: Path, settings: NotebookSettings, spread: "Spread", progress: Advance
) -> Summary:
    from deskcheck.notebook.kernel.record import record_notebooks

    return record_notebooks(sources, out, settings, workers=spread.workers, progress=progress)


# -- sources of programs ---------------------------------------------------------------------------


def script_of(sources: Sequence[str], program_input: ProgramInput, note: Callable[[str], None]) -> Program:
    """The script, archive or module that is the only source, with its input.

    Its id includes the arguments, without secrets. Raises InputError if the sources are anything else.
    """
    from deskcheck.sources.sets.files import main_module, short_id
    from deskcheck.sources.sources import is_script, programs

    source = sources[0]
    if len(sources) > 1:
        raise InputError(
            f"{' '.join(sources)}: arguments and standard input are for one program. Record each program "
            "with a separate command."
        )
    if not program_input.module and not is_script(source):
        raise InputError(
            f"{source}: takes no arguments after --. Only a script (FILE.py), an archive (FILE.pyz) and "
            "-m MODULE do."
        )
    program = main_module(source) if program_input.module else next(programs(source, note=note))
    program = with_input(program, program_input)
    mask = mask_around(os.getcwd(), program.path)
    words = program_input.words if mask is None else mask.text(program_input.words)
    extra = {"run": "file", **program.extra, "folder": os.getcwd()}
    return replace(program, id=short_id(f"{program.id} {words}".rstrip()), extra=extra)


def programs_of(
    sources: Sequence[str],
    *,
    propose: Callable[[str], str] | None = None,
    note: Callable[[str], None] = _log.warning,
    unusable: dict[str, str] | None = None,
) -> Iterator[Program]:
    """The programs of all sources. All sources are looked up before the first program.

    unusable: receives sources that cannot be used, with the reasons. Raises InputError if no source can be
    used, or without `unusable` for the first that cannot.
    """
    from deskcheck.sources import programs

    iterators: list[Iterator[Program]] = []
    errors: dict[str, InputError] = {}

    def refuse(source_or_row: str, reason: str) -> None:
        assert unusable is not None
        unusable[source_or_row] = reason
        note(f"left out: {reason.partition(chr(10))[0]}")

    row = None if unusable is None else refuse
    for source, arguments in with_arguments(sources):
        try:
            iterators.append(programs(source, arguments, note=note, propose=propose, refuse=row))
        except InputError as error:
            if unusable is None:
                raise
            errors[source] = error
    if errors and not iterators:
        raise next(iter(errors.values()))
    if unusable is not None:
        unusable |= {source: str(error) for source, error in errors.items()}
    return _all_of(iterators)


def _all_of(iterators: Iterable[Iterator[Program]]) -> Iterator[Program]:
    for programs in iterators:
        yield from programs


def with_arguments(sources: Sequence[str]) -> list[tuple[str, str | None]]:
    """Pairs of a source and the argument list that follows it, or None."""
    calls: list[tuple[str, str | None]] = []
    for text in sources:
        if calls and "::" in calls[-1][0] and calls[-1][1] is None and not may_be_source(text):
            calls[-1] = (calls[-1][0], text)
        else:
            calls.append((text, None))
    return calls


def may_be_source(text: str) -> bool:
    """Whether a word after a call looks like a source rather than misspelt arguments."""
    if text.lstrip().startswith("("):
        return False
    named = re.match(r"[\w+-]+(,[\w=+-]+)*:", text) or "::" in text or text.endswith((".py", ".jsonl", ".gz"))
    return bool(named) or text.replace(".", "_").isidentifier() or os.path.exists(text)
