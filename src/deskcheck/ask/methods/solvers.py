"""Methods by which a model answers a question: prompts, reading and answers, without any model.

`direct` and `chain_of_thought` put the question itself. With the other methods the model predicts the run,
and the answer is read from the predicted states. With `scratchpad` and `compact` it writes the whole trace at
once; with `dynamic_scratchpad` it is an interpreter (Execution Tuning, arXiv:2503.05703): one state in, the
next out, no history.

Reading ignores words and code fences around a trace or state. A line inside it that cannot be read ends the
run.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from deskcheck.ask.answers.parsing import CLOSE, OPEN, without_thinking, written
from deskcheck.ask.methods.ground_truth import GroundTruth, is_end
from deskcheck.ask.methods.jumps import JumpedRun, JumpOptions
from deskcheck.ask.samples.places import Arrival, arrivals, lines_of_path
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.samples.source import Statements, statements
from deskcheck.extensions import Registry, is_installed
from deskcheck.notation import NOTATIONS, Moment, RunAgreement, Stop, compare_runs, state_text
from deskcheck.notation.divergence import reached
from deskcheck.notation.extract import trace_in
from deskcheck.notation.forms.explained import EXPLAINED
from deskcheck.notation.forms.explained_steps import explained_step, run_text
from deskcheck.notation.layout import STEPWISE, step_prompt, trace_prompt
from deskcheck.notation.state import BEGINS, ENDS
from deskcheck.recording import InputError, Kind, render
from deskcheck.recording.value import decode

if TYPE_CHECKING:
    from inspect_ai.solver import Solver


@dataclass(frozen=True, slots=True)
class Method:
    """A way in which a model answers, by name."""

    name: str
    about: str
    """One line about the method."""
    notation: str | None = None
    """The notation of the predicted run. None: the question is put to the model."""
    make: "Callable[..., Solver] | None" = None
    """Makes Inspect's solver from options. None: a method of deskcheck itself."""
    check_options: Callable[[Mapping[str, str]], object] | None = None
    """Raises InputError for wrong or missing options. None: no options."""
    refuses: Callable[[Sample], str | None] | None = None
    """The reason why the method cannot answer a sample, or None. None: it answers every sample."""


METHODS = Registry(
    "methods",
    Method,
    [
        Method("direct", "the question, one completion"),
        Method("chain_of_thought", "the question, worked through in words before the answer"),
        Method("scratchpad", "the whole trace, every event with all variables of its frame", "scratchpad"),
        Method("compact", "the whole trace, every event with what changed", "compact"),
        Method(
            "dynamic_scratchpad",
            "state by state: one in, the next out, no history",
            "dynamic",
            check_options=JumpOptions.of,
        ),
        Method(
            "dynamic_instruction",
            "the same instruction by instruction",
            "dynamic_instruction",
            check_options=JumpOptions.of,
        ),
    ],
)
"""Name of a method -> the method."""


def method(
    name: str,
    *,
    about: str,
    check_options: Callable[[Mapping[str, str]], object] | None = None,
    refuses: Callable[[Sample], str | None] | None = None,
) -> "Callable[[Callable[..., Solver]], Method]":
    """Make a method of a function that returns a solver of Inspect's (see `Method`).

    @method("twice", about="the question, twice in one prompt")
    def twice() -> Solver:
        return asked_twice()  # decorated with inspect_ai.solver.solver
    """
    return lambda make: METHODS.register(
        Method(name, about, make=make, check_options=check_options, refuses=refuses)
    )


READABLE = frozenset({"output", "next_line", "state", "path"})
"""Questions whose answer can be read from a run."""

THINK = (
    "\n\nBefore you answer, work through what happens, step by step and in words. Then give the answer "
    f"between {OPEN} and {CLOSE}, once."
)
"""The addition of `chain_of_thought` to a prompt."""


def completion_of(prompt: str, form: str, answer: str) -> str:
    """The completion of a prompt that is an answer in the form that was asked for."""
    text = written(form, answer)
    return f"{OPEN}\n{text}\n{CLOSE}" if prompt.endswith(THINK) and not text.startswith(OPEN) else text


def named(text: str) -> tuple[Method, dict[str, str]]:
    """Method and options of ``NAME`` or ``NAME:OPTION=VALUE:OPTION=VALUE``. Raises InputError for anything
    else."""
    name, *parts = text.split(":")
    if name not in METHODS:
        raise InputError(
            f"unknown method {name!r}. The methods are {', '.join(METHODS)}.{_how_to_have_more()}"
        )
    options: dict[str, str] = {}
    for part in parts:
        option, equals, value = part.partition("=")
        if not option or not equals or option in options:
            raise InputError(f"{text}: write options as {name}:OPTION=VALUE:OPTION=VALUE, each once.")
        options[option] = value
    return METHODS[name], options


_PACKAGE = "deskcheck-methods"


def _how_to_have_more() -> str:
    """A sentence about this project's own package of methods, unless it is installed."""
    if is_installed(_PACKAGE):
        return ""
    return (
        f" Methods that run code (deskcheck help scaffolds) are in the package {_PACKAGE}, which is not "
        "installed. Install it with: pip install 'deskcheck[methods]', or in a checkout of deskcheck: "
        f"pip install ./packages/{_PACKAGE}"
    )


def check_methods(methods: Sequence[str], questions: Sequence[str]) -> None:
    """Raises InputError: no method, an unknown one, one twice, wrong options, or a question that a method
    cannot answer."""
    if not methods:
        raise InputError(f"no method is named. The methods are {', '.join(METHODS)}.")
    for text in methods:
        definition, options = named(text)
        if list(methods).count(text) > 1:
            raise InputError(f"the method {text} is named twice.")
        unreadable = next((question for question in questions if question not in READABLE), None)
        if definition.notation is not None and unreadable is not None:
            raise InputError(
                f"{definition.name} cannot answer {unreadable}: it predicts runs of programs, and the answer "
                f"is read from those. It answers {', '.join(sorted(READABLE))}."
            )
        if definition.check_options is not None:
            definition.check_options(options)
            if (
                definition.notation in STEPWISE
                and not JumpOptions.of(options).plain
                and set(questions) - {"output"}
            ):
                raise InputError(
                    f"{text}: steps of several events pass over states, so that only output can be read from "
                    "them. Leave jump out, or ask --question output."
                )
        elif options:
            raise InputError(f"{text}: the method {definition.name} has no options.")


def check_answers(methods: Sequence[str], samples: Mapping[str, Iterable[Sample]]) -> None:
    """Raises InputError if a method cannot answer a sample. samples: question -> its samples."""
    for text in methods:
        definition, options = named(text)
        refuses = definition.refuses
        if definition.notation in STEPWISE and not JumpOptions.of(options).plain:
            refuses = _printed
        if refuses is None:
            continue
        for question, of_question in samples.items():
            for sample in of_question:
                if (reason := refuses(sample)) is not None:
                    raise InputError(f"{definition.name} cannot answer {question}: {reason}.")


def _printed(sample: Sample) -> str | None:
    """The reason why steps of several events do not show an answer."""
    if sample.data["form"] == "stdout":
        return f"{sample.id} prints, and steps of several events pass over what is printed; leave jump out"
    return None


def unfit(truth: GroundTruth | str, method: str) -> str | None:
    """The reason why a method cannot predict a run; None if it can."""
    notation = named(method)[0].notation
    if notation is None:
        return None
    if isinstance(truth, str):
        return truth
    if notation in STEPWISE and not truth.once:
        return "has several outermost frames, so no state shows that the run is over"
    granularity = truth.recording.environment.granularity
    if NOTATIONS[notation].instructions and granularity != "instruction":
        return "was recorded by line, not by instruction"
    return None


# -- prompts -------------------------------------------------------------------------------------


def trace_question(truth: GroundTruth, notation: str, *, explain: bool) -> str:
    """The prompt for a whole trace. explain: with an explanation of the notation and an example; otherwise in
    the layout of lessons."""
    prompt = truth.text + trace_prompt(truth.program, notation)
    return EXPLAINED[notation] + prompt if explain else prompt


def step_question(
    truth: GroundTruth, state: str, *, explain: bool, jump: int = 1, instructions: bool = False
) -> str:
    """The prompt for the state `jump` events after a state."""
    prompt = truth.text + step_prompt(truth.lines, state, jump)
    if not explain:
        return prompt
    if jump == 1 and not instructions:
        return EXPLAINED["dynamic"] + prompt
    words = explained_step("dynamic", instructions=instructions, back=False)
    python = truth.recording.environment.python if instructions else None
    run = run_text(python=python and ".".join(python.split(".")[:2]), call=None)
    return words + (f"{run}\n\n" if run else "") + prompt


# -- reading -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """A run as a model predicted it."""

    states: tuple[Moment, ...]
    stop: Stop
    given: int = 0
    """The number of first states that are from the recording."""
    why: str = ""
    """The reason why the run could not be read further."""
    text: str = ""
    """The text of the model; of an interpreter the states that were read."""
    jumps: tuple[int, ...] = ()
    """Events from each state to the next; empty: one each."""

    @classmethod
    def of_steps(cls, run: JumpedRun) -> "Predicted":
        """A run in steps of several events."""
        text = "\n".join([state_text(state) for state in run.states])
        return cls(states=run.states, stop=run.stop, given=1, why=run.why, text=text, jumps=run.jumps)

    @property
    def asked(self) -> int:
        """States that the model was asked for, or wrote, including one that cannot be read."""
        return len(self.states) - self.given + (self.stop is Stop.UNREADABLE)


THINKS = "the thought does not end"
"""Why such a text has no state and no trace."""


def read_state(text: str, *, notation: str = "dynamic", previous: str = "") -> Moment | str:
    """The only state in a model's text up to an empty line; or a text, the reason why there is none.

    previous: the text of the state before it, for notations in which a state follows another.
    """
    body = trace_in(text).partition("\n\n")[0]
    if not body.strip():
        return "the completion has no state"
    parsed = NOTATIONS[notation].parse(f"{previous}\n{body}" if previous else body)
    if parsed.unreadable:
        line = parsed.unreadable[0].line - (previous.count("\n") + 1 if previous else 0)
        return f"line {line}: {parsed.unreadable[0].why}"
    states = parsed.moments[1:] if previous else parsed.moments
    if len(states) != 1:
        return f"{len(states)} states, where one was asked for"
    return states[0]


def state_said(completion: str) -> Moment | str:
    """The state in a completion, as `read_state` reads it, without the model's thoughts."""
    speech, thinks = without_thinking(completion)
    return THINKS if thinks else read_state(speech)


def read_trace(text: str, notation: str, *, truncated: bool = False, source: str | None = None) -> Predicted:
    """The run in a model's text, up to the first line that cannot be read. truncated: the text was cut at the
    limit of tokens. source: the source of the program."""
    speech, thinks = without_thinking(text)
    if thinks:
        return Predicted(states=(), stop=Stop.UNREADABLE, why=THINKS, text=text)
    body = trace_in(speech)
    if truncated:
        body = body.rpartition("\n")[0]
    parsed = NOTATIONS[notation].parse(body, source)
    states, stop, reason = parsed.moments, Stop.END, ""
    if parsed.unreadable:
        bad = min(parsed.unreadable, key=lambda unreadable: unreadable.line)
        states = tuple(m for m, line in zip(parsed.moments, parsed.lines, strict=True) if line < bad.line)
        stop, reason = Stop.UNREADABLE, f"line {bad.line}: {bad.why}"
    elif truncated or parsed.cut:
        stop = Stop.BUDGET
    elif not states:
        stop, reason = Stop.UNREADABLE, "the completion has no trace"
    return Predicted(states=states, stop=stop, why=reason, text=text)


# -- the interpreter -----------------------------------------------------------------------------


class PromptedRun:
    """A run that is predicted state by state: `prompt` asks for the next, `take` reads it, until `stop` is
    set.

    It ends when the outermost frame is left, at a text that is not a state, after `budget` states, or when
    the question `until` (for the next line) is answered.
    """

    def __init__(
        self,
        truth: GroundTruth,
        first: Moment,
        *,
        budget: int,
        until: Sample | None = None,
        instructions: bool = False,
    ) -> None:
        self.truth = truth
        self.instructions = instructions
        self.states = [first]
        self.state = state_text(first)
        self.budget = budget
        self.until = until
        self.first_lines = _statements(truth, truth.program.filename).first if until is not None else {}
        self.why = ""
        self.stop: Stop | None = Stop.END if is_end(first) else None

    def prompt(self, *, explain: bool) -> str:
        """The prompt for the state after the last one."""
        return step_question(self.truth, self.state, explain=explain, instructions=self.instructions)

    def take(self, text: str) -> None:
        """Read the next state from a model's text."""
        state = state_said(text)
        if isinstance(state, str):
            self.stop, self.why = Stop.UNREADABLE, state
            return
        self.states.append(state)
        self.state = state_text(state)
        if is_end(state) or self._answered(state):
            self.stop = Stop.END
        elif len(self.states) > self.budget:
            self.stop = Stop.BUDGET

    def _answered(self, moment: Moment) -> bool:
        """Whether the frame of the question arrives at another statement, or is left."""
        if self.until is None:
            return False
        depth = len(self.states[0].frames)
        if len(moment.frames) < depth:
            return True
        if len(moment.frames) > depth:
            return False
        line = self.first_lines.get(moment.running.line, moment.running.line)
        return moment.kind in (Kind.RETURN, Kind.UNWIND) or (
            moment.kind is Kind.LINE and line != self.until.data["line"]
        )

    def predicted(self) -> Predicted:
        """The run up to this state."""
        text = "\n".join([state_text(state) for state in self.states])
        stop = self.stop or Stop.BUDGET
        return Predicted(states=tuple(self.states), stop=stop, given=1, why=self.why, text=text)


def agreement(
    truth: GroundTruth, predicted: Predicted, *, event: int | None = None, instructions: bool = False
) -> RunAgreement:
    """The predicted run against the recording.

    event: the first event of a run that begins later; it ends when the question is answered, so missing
    states at its end are not a fault. instructions: the states are those at instructions.
    """
    mine = predicted.states[predicted.given :]
    if event is None:
        true = islice(truth.states(instructions=instructions), predicted.given, None)
        return compare_runs(mine, reached(true, predicted.jumps), predicted.stop)
    more = predicted.stop is Stop.BUDGET  # the next state was not asked for
    true = islice(
        truth.states_from(event, instructions=instructions),
        predicted.given,
        predicted.given + predicted.asked + more,
    )
    return compare_runs(mine, true, predicted.stop)


# -- answers -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Seen:
    """An event of a predicted run, for `arrivals`."""

    kind: str
    index: int
    frame: int
    function: str
    file: str
    line: int


def answer_of(sample: Sample, truth: GroundTruth, predicted: Predicted) -> str | None:
    """The answer to a question in a predicted run; None if the run does not show it."""
    states = predicted.states
    match sample.question:
        case "output":
            return _output(sample, truth, states) if predicted.stop is Stop.END else None
        case "state":
            return _variable(sample, truth, states)
        case "next_line":
            return _next_line(sample, truth, predicted)
        case "path":
            if not states or predicted.stop is not Stop.END:
                return None
            file = sample.data["file"]
            return str(lines_of_path(_arrivals(states, truth, file), file))
    raise InputError(f"{sample.id}: the answer to {sample.question} cannot be read from a run.")


def _output(sample: Sample, truth: GroundTruth, states: Sequence[Moment]) -> str | None:
    if not states:
        return None
    if sample.data["form"] == "stdout":
        return "".join(moment.output for moment in states)
    entry = truth.recording.program.extra.get("entry")
    for moment in reversed(states):
        if moment.kind is not Kind.RETURN:
            continue
        if truth.moved is None:
            return _shown(moment) if len(moment.frames) == 1 else None
        frame = moment.running
        if len(moment.frames) == 2 and frame.function == entry and frame.via is None:
            return _shown(moment)
    return None


def _shown(moment: Moment) -> str:
    return render(decode(moment.value, moment.objects))


def _variable(sample: Sample, truth: GroundTruth, states: Sequence[Moment]) -> str | None:
    data = sample.data
    for arrival in _arrivals(states, truth):
        if (arrival.file, arrival.line, arrival.k) == (data["file"], data["line"], data["k"]):
            moment = states[arrival.index]
            names = dict(moment.names(moment.running))
            if data["variable"] not in names:
                return None
            return render(decode(names[data["variable"]], moment.objects))
    return None


def _next_line(sample: Sample, truth: GroundTruth, predicted: Predicted) -> str | None:
    data = sample.data
    # An interpreter begins at the visit in question, a trace with the run.
    visit_number = 1 if predicted.given else data["k"]
    for arrival in _arrivals(predicted.states, truth):
        if (arrival.file, arrival.line, arrival.k) == (data["file"], data["line"], visit_number):
            return None if arrival.then is None else str(arrival.then)
    return None


def _statements(truth: GroundTruth, file: str) -> Statements:
    parsed = statements(truth.recording.source(file) or "")
    assert parsed is not None, "questions need sources that can be parsed"
    return parsed


def _arrivals(states: Sequence[Moment], truth: GroundTruth, file: str | None = None) -> list[Arrival]:
    """The arrivals at statements of a file, by default the program's own."""
    file = file or truth.program.filename
    return arrivals(_seen(states, truth), {file: _statements(truth, file)})


def _seen(states: Iterable[Moment], truth: GroundTruth) -> Iterator[_Seen]:
    """The events of predicted states, with frames numbered. Function and line decide which of several
    suspended generators continues."""
    stack: list[int] = []
    suspended: dict[tuple[str, int], list[int]] = {}
    count, was_left = 0, False
    for index, moment in enumerate(states):
        if was_left:
            stack.pop()
        depth = len(moment.frames)
        if moment.kind in BEGINS:
            del stack[depth - 1 :]
        del stack[depth:]
        running = moment.running
        while len(stack) < depth:
            waiting = suspended.get((running.function, running.line))
            if moment.kind is Kind.RESUME and len(stack) == depth - 1 and waiting:
                stack.append(waiting.pop())
            else:
                stack.append(count)
                count += 1
        if moment.kind is Kind.YIELD:
            suspended.setdefault((running.function, running.line), []).append(stack[-1])
        was_left = moment.kind in ENDS
        file = truth.program.filename if running.file is None else running.file
        if moment.kind is Kind.INSTRUCTION:
            continue
        yield _Seen(moment.kind, index, stack[-1], running.function, file, running.line)
