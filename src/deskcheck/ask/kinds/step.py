"""A step from a true state. Execution Tuning (arXiv:2503.05703) and CWM (arXiv:2510.02387) train a model to
take such steps; here any model is asked for one. By default it is one event forward. It may be several, or
back.

For one event forward by lines, the prompt is exactly the one that the method ``dynamic_scratchpad`` gives for
that state. States are written in the notation ``dynamic``. If code of several files runs, which no method
predicts, the prompt shows the code of each file that ran. Then the program's own file is that of the first
frame, and frames of other files name their file.

The program and a state decide which state comes next. They do not decide which state came before: the event
has overwritten the value of a variable, or has removed a frame with its values. So the prompt also says how
the program is run, which decides the whole run and so every earlier state. A reader of the state alone may
not be able to know the answer: ``kept`` in a sample's data says whether the state that is shown contains
everything that the answer contains.

A state is left out, and counted, if the run reaches it again and the same jump leads to another state, or to
none. A run that ends reaches no state twice, unless something that states do not show decides the next event,
such as the progress of `sorted`.
"""

import hashlib
import random
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice, zip_longest
from typing import NamedTuple

from deskcheck.ask.methods.ground_truth import OTHER_FILES, ground_truth_of
from deskcheck.ask.methods.solvers import read_state
from deskcheck.ask.samples.kind import Question, globals_text, in_turns, kind
from deskcheck.ask.samples.places import (
    SCANNED_EVENTS,
    Unfit,
    call_source,
    check_all_recorded,
    check_arguments,
    files_of,
)
from deskcheck.ask.samples.prompts import OBJECTS, TASKS, files_text, functions_text, how_run
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.samples.source import MAX_LINES, cluster_of
from deskcheck.ask.samples.steps import StepOptions
from deskcheck.notation import NOTATIONS, Moment, moments, state_text
from deskcheck.notation.forms.explained_steps import answer_text, explained_step, run_text
from deskcheck.notation.layout import asked_state, current_line, step_prompt
from deskcheck.notation.state import VALUED
from deskcheck.recording import Kind, Recording
from deskcheck.recording.program import code_lines
from deskcheck.recording.value import Encoded

TEXT_CHARS = 3000
"""A longer state is not asked about."""
BY_LINE = "recorded by line: record with --granularity instruction to ask about instructions"
OTHERWISE = "without its tests, which are not shown, the program has other instructions"
NONE = "no two states with short, complete values"
AGAIN = "states that occur again, where the same jump leads to a different state"
LIBRARY = "states with functions or classes of a library that the state before does not show"
UNREAD = "an answer that is long in its notation or does not read back"
_LIBRARY = re.compile(r"""<text \S+ (?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
"""Like ``<text type "<class 'decimal.Decimal'>"``: no prompt says how such things are written."""
_EMPTY = "\n\n"
"""Stands between the parts of a prompt."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """A run as `step` shows it. lines: those of the file of frames that name no file. text: the code of all
    files."""

    file: str
    lines: Sequence[str]
    text: str
    states: Callable[[], Iterator[Moment]]


class _State:
    """One state of a run, with facts that are computed once."""

    def __init__(self, moment: Moment) -> None:
        self.moment = moment

    @cached_property
    def text(self) -> str:
        return state_text(self.moment)

    @cached_property
    def canonical(self) -> str:
        return self.moment.canonical()

    @cached_property
    def key(self) -> bytes:
        """Equal for equal states."""
        return hashlib.blake2b(self.canonical.encode("utf-8", "surrogatepass"), digest_size=16).digest()

    @cached_property
    def whole(self) -> bool:
        """Whether its text is short, says everything, and reads back as the same state."""
        if self.moment.left_out or any(
            content.get("cut") or content.get("kind") == "opaque" for content in self.moment.objects.values()
        ):
            return False
        if len(self.text) > TEXT_CHARS:
            return False
        parsed = NOTATIONS["dynamic"].parse(self.text)
        return not parsed.unreadable and [moment.canonical() for moment in parsed.moments] == [self.canonical]

    @cached_property
    def library(self) -> frozenset[str]:
        """The names of libraries that it shows."""
        return frozenset(_LIBRARY.findall(self.text))


class _Pair(NamedTuple):
    """A state that is shown, and the one that is asked for."""

    number: int
    """The number of the state that is shown."""
    jump: int
    start: _State
    target: _State | None
    """None if the run has no such state."""


class _Place(NamedTuple):
    """A pair that can be asked about, with the fields that drawing needs."""

    number: int
    jump: int
    comes: str
    where: tuple[object, ...]
    """Function, line, kinds of event and jump. A place that repeats an earlier one is asked about last."""
    start: tuple[int, bytes]
    """Jump and key of the state that is shown."""


@kind(
    "step",
    "what is the whole state one event after a given one, or several, or one before?",
    4,
    of_raised=True,
    shows_globals=True,
    shows_call=False,
)
def step(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample | Unfit]:
    yield from _steps(recording, rng, per_recording, StepOptions())


def step_with(options: StepOptions) -> Question:
    """The kind `step`, asked in another way."""
    return replace(step, ask=partial(_steps, options=options))


def _steps(
    recording: Recording, rng: random.Random, per_recording: int, options: StepOptions
) -> Iterator[Sample | Unfit]:
    check_arguments(recording.program, "literal", "shown")
    if options.detail == "instruction" and recording.environment.granularity != "instruction":
        raise Unfit(BY_LINE)
    truth = _shown(recording, instructions=options.detail == "instruction")
    if len(recording.trace) > SCANNED_EVENTS:
        raise Unfit("the run is too long")
    places, unfit = _places(truth, options)
    for reason in unfit.elements():
        yield Unfit(reason)
    if not places:
        raise Unfit(NONE)
    keys = [(candidate.number, candidate.jump) for candidate in islice(_drawn(places, rng), per_recording)]
    samples = {
        (pair.number, pair.jump): _sample(recording, truth, options, pair)
        for pair in _pairs(truth, options.jump)
        if pair.target is not None and (pair.number, pair.jump) in keys
    }
    for key in keys:
        yield samples[key]


def _shown(recording: Recording, *, instructions: bool) -> _Shown:
    truth = ground_truth_of(recording)
    if not isinstance(truth, str):
        if len(truth.lines) > MAX_LINES:
            raise Unfit("the source is too long")
        if instructions and truth.program.code != recording.program.code:
            raise Unfit(OTHERWISE)
        text = truth.text.removesuffix(_EMPTY)
        file = recording.program.filename
        return _Shown(file, truth.lines, text, lambda: truth.states(instructions=instructions))
    if truth != OTHER_FILES:
        raise Unfit(truth)
    check_all_recorded(recording)
    first_file = recording.trace.rows[0].file
    lines = code_lines(recording.source(first_file) or "")
    text = files_text(files_of(recording), numbered=True) + functions_text(recording.program)
    return _Shown(
        first_file, lines, text, lambda: moments(recording.trace, file=first_file, instructions=instructions)
    )


def _pairs(truth: _Shown, jumps: Sequence[int]) -> Iterator[_Pair]:
    """All states with those to which the jumps lead, in order of the later of the two; then those from which
    a jump leads beyond the end."""
    before: deque[_State] = deque(maxlen=max(map(abs, jumps)))
    number = -1
    for number, moment in enumerate(truth.states()):
        state = _State(moment)
        for jump in jumps:
            earlier = before[-abs(jump)] if abs(jump) <= len(before) else None
            if jump < 0:
                yield _Pair(number, jump, state, earlier)
            elif earlier is not None:
                yield _Pair(number - jump, jump, earlier, state)
        before.append(state)
    for jump in jumps:
        for back in range(min(jump, len(before)), 0, -1):
            yield _Pair(number + 1 - back, jump, before[-back], None)


def _places(truth: _Shown, options: StepOptions) -> tuple[list[_Place], Counter[str]]:
    """The places that can be asked about, and how many cannot for `AGAIN` or `LIBRARY`."""
    places: list[_Place] = []
    unfit: Counter[str] = Counter()
    leads: dict[tuple[int, bytes], bytes] = {}
    apart: set[tuple[int, bytes]] = set()
    for pair in _pairs(truth, options.jump):
        if not pair.start.whole:
            continue
        start, end = (pair.jump, pair.start.key), b"" if pair.target is None else pair.target.key
        if leads.setdefault(start, end) != end:
            apart.add(start)
        if pair.target is None or not pair.target.whole:
            continue
        if options.detail == "line" and not pair.target.library <= pair.start.library:
            unfit[LIBRARY] += 1
        else:
            frame, comes = pair.start.moment.running, _comes(pair)
            where = frame.function, frame.line, frame.offset, pair.start.moment.kind, pair.jump, comes
            places.append(_Place(pair.number, pair.jump, comes, where, start))
    fit = [candidate for candidate in places if candidate.start not in apart]
    unfit[AGAIN] += len(places) - len(fit)
    return fit, unfit


def _comes(pair: _Pair) -> str:
    """The kind of event that is asked for, and in the same frame whether it is further down the text."""
    assert pair.target is not None
    before, after = pair.start.moment, pair.target.moment
    if len(before.frames) != len(after.frames):
        return str(after.kind)
    return f"{after.kind} {'on' if after.running.line > before.running.line else 'back'}"


def _drawn(places: Sequence[_Place], rng: random.Random) -> Iterator[_Place]:
    """Places in the order in which they are asked: jumps take turns, and for each jump the kinds of event."""
    turns: dict[int, list[_Place]] = {}
    for candidate in in_turns(
        places, rng, lambda candidate: (candidate.jump, candidate.comes), lambda candidate: candidate.where
    ):
        turns.setdefault(candidate.jump, []).append(candidate)
    for row in zip_longest(*turns.values()):
        yield from (candidate for candidate in row if candidate is not None)


def _answer(state: _State, target: _State, notation: str) -> str:
    """The answer. Raises Unfit if it is long or does not read back as the state."""
    if notation == "dynamic":
        return target.text
    text = answer_text(state.moment, target.moment, notation)
    if len(text) > TEXT_CHARS or read_state(text, notation=notation, previous=state.text) != target.moment:
        raise Unfit(UNREAD)
    return text


def _sample(recording: Recording, truth: _Shown, options: StepOptions, pair: _Pair) -> Sample | Unfit:
    assert pair.target is not None
    try:
        answer = _answer(pair.start, pair.target, options.notation)
    except Unfit as reason:
        return reason
    by_line, full_states = options.detail == "line", options.notation == "dynamic"
    plain = by_line and full_states and pair.jump == 1
    words = explained_step(options.notation, instructions=not by_line, back=pair.jump < 0)
    run = "" if plain else _run(recording, truth, options, back=pair.jump < 0)
    id_parts = [
        str(pair.number),
        *([] if by_line else [options.detail]),
        *([] if pair.jump == 1 else [f"{pair.jump:+d}"]),
        *([] if full_states else [options.notation]),
    ]
    return Sample(
        id=":".join([recording.id, "step", *id_parts]),
        question="step",
        program=recording.id,
        cluster=cluster_of(recording.program),
        parts={
            "task": TASKS["step"] if plain else words.removesuffix(_EMPTY),
            **({"run": run} if run else {}),
            "program": truth.text,
            "question": step_prompt(truth.lines, pair.start.text, pair.jump),
        },
        answer=answer,
        data={
            "form": "step",
            "file": truth.file,
            "line": current_line(pair.start.text),
            "state": pair.number,
            "comes": str(pair.target.moment.kind),
            "detail": options.detail,
            "jump": pair.jump,
            "direction": "on" if pair.jump > 0 else "back",
            "notation": options.notation,
            "kept": _shows_all_of(pair.start.moment, pair.target.moment),
            **({} if full_states else {"known": pair.start.text}),
        },
    )


def _run(recording: Recording, truth: _Shown, options: StepOptions, *, back: bool) -> str:
    """The text about the run above the program: the version of Python for instructions, and the call if a
    jump goes back."""
    program = recording.program
    python = ".".join(recording.environment.python.split(".")[:2]) if options.detail != "line" else None
    text = run_text(python=python, call=how_run(program, call_source(recording)) if back else None)
    if not back:
        return text
    if program.extra.get("arguments") == "shown":
        functions = functions_text(program)
        text += f"\n{OBJECTS}" + ("" if functions in truth.text else functions)
    return text + globals_text(recording)


def _shows_all_of(state: Moment, target: Moment) -> bool:
    """Whether a state shows all values of another one. Then an answer adds only the place, and which of the
    variables exist."""
    if target.kind in VALUED or target.output or len(target.frames) > len(state.frames):
        return False
    pairs = list(zip(state.frames, target.frames, strict=False))
    if any((mine.function, mine.file) != (theirs.function, theirs.file) for mine, theirs in pairs):
        return False
    frames = [replace(b, locals=_of(a.locals, b.locals), stack=a.stack) for a, b in pairs]
    names = {file: _of(state.globals.get(file, {}), variables) for file, variables in target.globals.items()}
    return target == replace(target, frames=tuple(frames), globals=names, objects=state.objects)


def _of(names: Mapping[str, Encoded], others: Mapping[str, Encoded]) -> Mapping[str, Encoded]:
    """Those of the names that the others have, too."""
    return {name: value for name, value in names.items() if name in others}


def guessed_step(prompt: str, notation: str) -> str:
    """The same state at the next line of the text, or N lines with code further or back. By instructions, the
    same state; if it is about to return, it returns the top of the stack.

    notation: the notation of the answer.
    """
    above, _, question = prompt.rpartition("\n\n")
    start = read_state(asked_state(question) or "")
    if isinstance(start, str):
        return ""
    state = replace(start, value=None, output="")
    if start.instruction is not None:
        if start.instruction.startswith("RETURN_") and start.running.stack:
            value = start.running.stack[-1]
            state = replace(state, kind=Kind.RETURN, instruction=None, value=value)
    else:
        numbered = re.findall(r"^(\d+)\|(.*)$", above, re.MULTILINE)
        frame, jump = start.running, int(question.rpartition("\n")[0].rpartition("\n")[2])
        lines = [int(number) for number, text in numbered if text.strip()]
        before, after = ([n for n in lines if n < frame.line], [n for n in lines if n > frame.line])
        on_the_way = after[:jump] if jump > 0 else before[jump:][::-1]
        frame = replace(frame, line=on_the_way[-1] if on_the_way else frame.line)
        state = replace(state, kind=Kind.LINE, frames=(*start.frames[:-1], frame))
    return answer_text(start, state, notation)
