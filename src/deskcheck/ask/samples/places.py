"""The places in a run that can be asked about, and the values that may be shown or asked there."""

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar
from weakref import WeakKeyDictionary

from deskcheck.ask.samples.source import ShownSource, Statements, shown_files, statements, words
from deskcheck.recording import Kind, Mode, Program, Recording, Row, Trace, Value

SCANNED_EVENTS = 100_000
T = TypeVar("T")


class Unfit(Exception):
    """The recording cannot be asked this; the message is the reason that is counted."""


def check_all_recorded(recording: Recording) -> None:
    if recording.environment.limits:
        raise Unfit("parts of the run are not recorded")


def check_arguments(program: Program, *fit: str) -> None:
    """Calls that a test suite made were not given as text: how much of them the text says is in `extra`."""
    if program.extra.get("arguments", "literal") not in fit:
        raise Unfit("the arguments are objects")


def call_source(recording: Recording) -> str | None:
    """The source of the called function if it is in a module; None if it is in the program."""
    rows = recording.trace.rows
    if recording.program.code.strip() or not rows:
        return None
    return recording.source(rows[0].file)


class Visit(Protocol):
    """The fields of an event that `arrivals` needs. A `Row` has them, and so has an event of a predicted
    run."""

    @property
    def kind(self) -> str: ...
    @property
    def index(self) -> int: ...
    @property
    def frame(self) -> int: ...
    @property
    def function(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Arrival:
    """A statement begins to run: a line event of a frame that was not at that statement before.

    line: first line of the statement. k: how often the line was arrived at, this time included.
    then: the next arrival of the frame: a line, ``return``, ``raise``, or None if it is unknown.
    """

    index: int
    file: str
    line: int
    frame: int
    function: str
    k: int
    then: int | str | None


def arrivals(events: Iterable[Visit], lines: Mapping[str, Statements]) -> list[Arrival]:
    """Every arrival at a statement of the files in `lines`, in order."""
    line_in_frame: dict[int, int] = {}
    """Frame -> statement that it is at."""
    open_: dict[int, Arrival] = {}
    counts: Counter[tuple[str, int]] = Counter()
    visits: list[Arrival] = []
    then: dict[int, int | str] = {}
    resumed: dict[int, int] = {}
    for row in itertools.islice(events, SCANNED_EVENTS):
        statements_of_file = lines.get(row.file)
        if statements_of_file is None:
            continue
        if row.kind == Kind.LINE and not is_within_definition(
            row, statements_of_file, begun=row.frame in line_in_frame
        ):
            line = statements_of_file.first.get(row.line, row.line)
            if line_in_frame.get(row.frame) == line:
                continue
            line_in_frame[row.frame] = line
            if row.frame in open_:
                then[open_[row.frame].index] = line
            counts[row.file, line] += 1
            visit_number = counts[row.file, line]
            open_[row.frame] = Arrival(row.index, row.file, line, row.frame, row.function, visit_number, None)
            visits.append(open_[row.frame])
        elif row.frame in open_ and row.kind == Kind.RESUME:
            resumed[row.frame] = open_[row.frame].index
        elif row.frame in open_ and row.kind == Kind.RETURN:
            then[open_[row.frame].index] = "return"
        elif (
            row.frame in open_
            and row.kind == Kind.UNWIND
            and resumed.get(row.frame) != open_[row.frame].index
        ):
            then[open_[row.frame].index] = "raise"  # what is thrown into a generator is not told beforehand
    return [Arrival(a.index, a.file, a.line, a.frame, a.function, a.k, then.get(a.index)) for a in visits]


def is_within_definition(row: Visit, statements_of_file: Statements, *, begun: bool) -> bool:
    """Whether a line event is part of a definition that its outer frame has begun. Python runs the body of a
    class, from the line of its first decorator, and type parameters in separate frames.

    begun: whether the frame has had a line event before.
    """
    name = row.function.rpartition(".")[2]
    if name.startswith("<generic parameters of "):
        return True
    return not begun and statements_of_file.bodies.get(row.line) == name


def is_expression(function: str) -> bool:
    """Whether a frame is that of a comprehension, a generator expression or a lambda, whose code is part of a
    statement of another frame."""
    return function.rpartition(".")[2] in _EXPRESSIONS


_EXPRESSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<lambda>"})


def rows_of(recording: Recording) -> Iterator[Row]:
    """The events of the main thread that there are at every level: instructions are left out."""
    return (row for row in recording.trace.rows if row.kind != Kind.INSTRUCTION)


def statements_of(recording: Recording, files: Sequence[ShownSource]) -> dict[str, Statements]:
    """The statements of every file that is shown."""
    by_file = {}
    if len(recording.traces) > 1:
        raise Unfit("runs in several threads")
    check_all_recorded(recording)
    for shown_source in files:
        source = recording.source(shown_source.file)
        statements_of_file = statements(source) if source is not None else None
        if statements_of_file is None:
            raise Unfit("a source cannot be parsed")
        by_file[shown_source.file] = statements_of_file
    return by_file


def files_of(recording: Recording, *, all_methods: bool = False) -> tuple[ShownSource, ...]:
    files = shown_files(recording, all_methods=all_methods)
    if isinstance(files, str):
        raise Unfit(files)
    return files


@dataclass(frozen=True, slots=True)
class Run:
    """A run, as far as questions about its lines are concerned."""

    files: tuple[ShownSource, ...]
    """The files of the program that a prompt shows."""
    lines: Mapping[str, Statements]
    """File -> its statements."""
    visits: Sequence[Arrival]
    """Every arrival at a statement, in order."""


def once(find: Callable[[Recording], T]) -> Callable[[Recording], T]:
    """A function of a recording that works its result out once for each trace."""
    results: WeakKeyDictionary[Trace, T] = WeakKeyDictionary()

    @functools.wraps(find)
    def remembered(recording: Recording) -> T:
        if recording.trace not in results:
            results[recording.trace] = find(recording)
        return results[recording.trace]

    return remembered


@once
def run_of(recording: Recording) -> Run:
    """The run as arrivals; for a long one only those in the first `SCANNED_EVENTS` events.

    Raises Unfit if lines cannot be asked about.
    """
    files = files_of(recording)
    lines = statements_of(recording, files)
    return Run(files, lines, tuple(arrivals(rows_of(recording), lines)))


def whole_run_of(recording: Recording) -> Run:
    """The run, for kinds whose prompt shows its beginning but no state. The arguments and all that followed
    must be recorded: raises Unfit otherwise."""
    check_arguments(recording.program, "literal", "shown")
    if len(recording.trace) > SCANNED_EVENTS:
        raise Unfit("the run is too long")
    return run_of(recording)


def has_one_successor(arrival: Arrival, recording: Recording, run: Run) -> bool:
    """Whether "the line that runs next in the frame" says one thing to every reader."""
    statements_of_file = run.lines[arrival.file]
    if arrival.line not in statements_of_file.plain or arrival.then is None:
        return False
    if arrival.line in statements_of_file.leaves and arrival.then == "return":
        return False  # the line says so itself
    if recording.program.mode is Mode.SESSION and arrival.function == "<module>":
        return False  # every statement of it has a frame of its own
    return isinstance(arrival.then, str) or arrival.then in statements_of_file.plain


def where(files: Sequence[ShownSource], file: str) -> str:
    """The words that name the file, if several are shown."""
    return f" in {file}" if len(files) > 1 else ""


def line_text(arrival: Arrival, run: Run) -> str:
    """The line of a place as questions name it: ``line 3 of f in helper.py``."""
    return f"line {arrival.line}{in_function(arrival)}{where(run.files, arrival.file)}"


def in_function(arrival: Arrival) -> str:
    return ", at the top level" if arrival.function == "<module>" else f" of {arrival.function}"


def is_asked_name(name: str, source: str) -> bool:
    """Whether a question may ask for a variable: the program writes this name. The interpreter binds others,
    such as ``__doc__`` in the body of a class, and writes some otherwise: ``__x`` in a class, letters that
    Unicode calls the same."""
    return name in words(source) and not (name.startswith("__") and name.endswith("__"))


def plain(value: Value) -> bool:
    """Whole and of builtins, and no cycle in it: ``[[...]]`` is also how a list of an Ellipsis reads."""
    return value.builtin and all(part.kind != "ref" for part in value.walk())


def lines_of_path(visits: Iterable[Arrival], file: str) -> list[int]:
    """The lines of a file at which statements begin, in order. The code of comprehensions and lambdas is part
    of a statement, at which the statement's frame arrives once."""
    return [visit.line for visit in visits if visit.file == file and not is_expression(visit.function)]
