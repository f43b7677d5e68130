"""The tools of a method: a model with a budget of calls, a runner of programs, and a transcript.

A method is a coroutine over a `Bench`. It offers answers, and the last one is scored, also when a budget is
spent. The transcript contains every call and every run, in order.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Annotated, Any, NamedTuple, Self, TypeVar, get_args, get_type_hints

from deskcheck.ask.answers.code import FoundCode, code_said
from deskcheck.ask.answers.parsing import CLOSE, OPEN
from deskcheck.ask.results.transcript import TranscriptLine, shortened, transcript
from deskcheck.ask.scoring.programs import Tested
from deskcheck.ask.scoring.score import Reading, reading_of
from deskcheck.fences import fenced_code
from deskcheck.notebook.state.views import estimate_tokens
from deskcheck.recording import InputError, Recording, RunResult
from deskcheck.settings import Setting
from deskcheck_methods.place import CallResult, ProgramRunner
from deskcheck_methods.visible import AskedQuestions, Puzzle

QUESTION = "[the question]"
"""The text in the transcript that replaces the question."""
T = TypeVar("T")


class Turn(NamedTuple):
    """A message. role: ``system``, ``user`` or ``assistant``."""

    role: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """The answer of a model.

    stop_reason: the reason for its end, in Inspect's words. input_tokens, output_tokens: 0 if the model does
    not report them; they are then estimated.
    """

    text: str
    stop_reason: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def whole(self) -> bool:
        """Whether the model ended it."""
        return reading_of(self.text, self.stop_reason) not in (Reading.CUT, Reading.REFUSED)


class Request(NamedTuple):
    """A request to a model.

    max_tokens: limit for the tokens of the answer. draw: number of earlier requests with the same messages in
    this sample. The answer must be a new draw.
    """

    messages: tuple[Turn, ...]
    max_tokens: int
    draw: int


Model = Callable[[Request], Awaitable[Completion]]
Share = Callable[[str, Callable[[], Awaitable[str]]], Awaitable[str]]
"""(key, function that makes a text) -> the text, which is made once for all questions of a run."""
InThread = Callable[[Callable[[], Any]], Awaitable[Any]]


async def at_once(work: Callable[[], T]) -> T:
    """Runs a slow function directly, without a thread."""
    return work()


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The budget of one sample, which is common to all methods."""

    calls: Annotated[int, Setting("Maximum number of completions.", min=1)] = 20
    tokens: Annotated[int, Setting("Maximum number of tokens, read and written.", min=1)] = 200_000
    runs: Annotated[int, Setting("Maximum number of runs in the sandbox. 0: no runs.", min=0)] = 100

    @classmethod
    def of(cls, method: str, values: Mapping[str, Any]) -> Self:
        """The options from texts or values. Raises InputError for an unknown option or a wrong value."""
        hints = get_type_hints(cls, include_extras=True)
        unknown = sorted(values.keys() - hints.keys())
        if unknown:
            raise InputError(f"{method}: unknown option {unknown[0]!r}. The options are {', '.join(hints)}.")
        options = cls(**{name: _value(method, name, hints[name], value) for name, value in values.items()})
        options.check()
        return options

    def check(self) -> None:
        """Raises InputError if the options name something that does not exist."""

    @classmethod
    def described(cls) -> dict[str, tuple[str, Any]]:
        """The description and the default of each option."""
        hints = get_type_hints(cls, include_extras=True)
        return {
            option.name: (
                get_args(hints[option.name])[1].text,
                None if option.default is MISSING else option.default,
            )
            for option in fields(cls)
        }


def _value(method: str, name: str, hint: Any, value: Any) -> Any:
    kind, setting = get_args(hint)[:2]
    words = get_args(kind)
    try:
        if kind is bool:
            parsed: Any = {"true": True, "false": False}[str(value).lower()]
        elif kind is int:
            parsed = int(str(value))
        else:
            parsed = str(value).lower() if isinstance(value, bool) else str(value)  # -S trace=true is a bool
            if words and parsed not in words:
                raise ValueError
        if setting.min is not None and parsed < setting.min:
            raise ValueError
    except (ValueError, KeyError):
        allowed = f"one of {', '.join(words)}" if words else {bool: "true or false"}.get(kind, "a text")
        if kind is int:
            allowed = f"a whole number, at least {setting.min:g}"
        raise InputError(f"{method}: {name}={value}: give {allowed}. {setting.text}") from None
    return parsed


class Spent(Exception):
    """A budget is spent. The text names it."""


@dataclass(slots=True)
class Bench:
    """A question, a model, a runner of programs, and the used part of the budget.

    model_name: Inspect's name of the model. run_questions: all questions of the run. share: makes the texts
    that they share. answer: the completion to score, None before the first one. ended: the reason for the end
    of the attempts.
    """

    puzzle: Puzzle
    model: Model
    runner: ProgramRunner
    options: Options
    in_thread: InThread = at_once
    attempts: list[TranscriptLine] = field(default_factory=list)
    answer: Completion | None = None
    ended: str = ""
    calls: int = 0
    runs: int = 0
    tokens: int = 0
    model_name: str = ""
    run_questions: AskedQuestions = field(default_factory=AskedQuestions)
    share: Share | None = None
    _put: dict[tuple[Turn, ...], int] = field(default_factory=dict)
    _tested: dict[tuple[str, tuple[str, ...]], Tested] = field(default_factory=dict)

    # -- the model -------------------------------------------------------------------------------

    async def ask(self, prompt: str | Sequence[Turn], step: str) -> Completion:
        """A completion. Raises Spent if the budget does not allow it."""
        messages = (Turn("user", prompt),) if isinstance(prompt, str) else tuple(prompt)
        if self.calls >= self.options.calls:
            raise Spent("calls")
        budget = self.options.tokens - self.tokens - sum(estimate_tokens(turn.text) for turn in messages)
        if budget < 1:
            raise Spent("tokens")
        draw = self._put.get(messages, 0)
        self._put[messages] = draw + 1
        self.calls += 1
        completion = await self.model(Request(messages, budget, draw))
        if not completion.input_tokens + completion.output_tokens:  # it was not told
            read = sum(estimate_tokens(turn.text) for turn in messages)
            completion = replace(
                completion, input_tokens=read, output_tokens=estimate_tokens(completion.text)
            )
        self.tokens += completion.input_tokens + completion.output_tokens
        shown_prompt = "\n\n".join(
            turn.text if turn.role == "user" else f"{turn.role}: {turn.text}" for turn in messages
        )
        self._log(
            "call",
            step,
            prompt=shown_prompt.replace(self.puzzle.prompt, QUESTION),
            completion=completion.text,
            stop_reason=completion.stop_reason,
            tokens=(completion.input_tokens, completion.output_tokens),
        )
        return completion

    def code_of(self, completion: Completion) -> FoundCode:
        """The program in a completion, or the reason why there is none."""
        return code_said(completion.text, self.puzzle.entry_point, complete=completion.whole)

    # -- the sandbox -----------------------------------------------------------------------------

    async def test(self, code: str, step: str, tests: Sequence[str] | None = None) -> Tested | None:
        """The result of visible tests of a program; None without tests. A program is run only once."""
        tests = self.puzzle.tests if tests is None else tuple(tests)
        if not tests:
            return None
        key = code, tuple(tests)
        if key not in self._tested:
            self._tested[key] = await self._run(lambda: self.runner.tested(self.puzzle, code, tests))
        tested = self._tested[key]
        self._log("tests", step, code=code, passed=tested.passed, of=tested.of, verdict=tested.reason)
        return tested

    async def returned(self, code: str, inputs: Sequence[str], step: str) -> tuple[CallResult, ...]:
        """The results of a program's entry point on inputs."""
        results: tuple[CallResult, ...] = await self._run(
            lambda: self.runner.returned(self.puzzle, code, inputs)
        )
        listing = "\n".join(
            f"{call} {result.how} {result.text:.200}" for call, result in zip(inputs, results, strict=True)
        )
        self._log("calls", step, code=code, verdict=shortened(listing))
        return results

    async def printed(self, code: str, step: str) -> RunResult:
        """The end and the output of a script."""
        run_result: RunResult = await self._run(lambda: self.runner.printed(code))
        printed_text = (
            run_result.stdout
            if not run_result.detail
            else f"{run_result.stdout}\n{run_result.outcome}: {run_result.detail}"
        )
        self._log("script", step, code=code, verdict=shortened(printed_text))
        return run_result

    async def recorded(self, code: str, call: str | None, test: str = "") -> Recording:
        """The recording of a call of a program, or of the program followed by a visible test."""
        recording: Recording = await self._run(lambda: self.runner.recorded(self.puzzle, code, call, test))
        return recording

    async def once(self, key: str, work: Callable[[], Awaitable[str]]) -> str:
        """A text that the questions of a run share. The first one that needs it makes it, on its budget."""
        return await (work() if self.share is None else self.share(key, work))

    async def _run(self, work: Callable[[], T]) -> T:
        if self.runs >= self.options.runs:
            raise Spent("runs")
        self.runs += 1
        result: T = await self.in_thread(work)
        return result

    # -- the answer ------------------------------------------------------------------------------

    def offer(self, completion: Completion) -> None:
        """Sets the answer to this completion."""
        self.answer = completion

    def offer_code(self, code: str) -> None:
        """Sets the answer to a program that the method has assembled."""
        self.answer = Completion(text=f"{OPEN}\n{fenced_code(code)}\n{CLOSE}", stop_reason="stop")

    def note(self, step: str, verdict: str, *, trace: str = "", code: str = "") -> None:
        """Adds a line to the transcript that is neither a call nor a run."""
        self._log("trace" if trace else "choice", step, verdict=verdict, trace=trace, code=code)

    def _log(self, kind: str, step: str, **parts: Any) -> None:
        for name in {"prompt", "completion", "code", "trace"} & parts.keys():
            parts[name] = shortened(parts[name])
        self.attempts.append(TranscriptLine(kind=kind, step=step, **parts))

    def to_dict(self) -> dict[str, Any]:
        """The transcript, JSON-able."""
        return transcript(
            self.attempts,
            calls=self.calls,
            runs=self.runs,
            tokens=self.tokens,
            ended=self.ended,
            left_out=self.puzzle.left_out,
        )


Solve = Callable[[Bench], Awaitable[None]]
"""A method: offers answers until it has no better one."""
Own = TypeVar("Own", bound=Options)


@dataclass(frozen=True, slots=True)
class Scaffold:
    """A method."""

    name: str
    about: str
    """A description in one line."""
    options: type[Options]
    solve: Solve
    forms: frozenset[str] | None = None
    """The forms of answers that it can give; None: all except `not_forms`."""
    not_forms: frozenset[str] = frozenset()

    def refuses(self, form: str) -> str | None:
        """The reason why it cannot give answers of a form; None if it can."""
        if form not in self.not_forms and (self.forms is None or form in self.forms):
            return None
        gives = " or ".join(sorted(self.forms)) if self.forms else "anything else"
        return f"that asks for {form}, but it gives {gives}"


SCAFFOLDS: dict[str, Scaffold] = {}
"""The methods by name; `registry` loads them."""


def scaffold(
    about: str,
    options: type[Own],
    *,
    forms: frozenset[str] | None = None,
    not_forms: frozenset[str] = frozenset(),
) -> Callable[[Callable[[Bench, Own], Awaitable[None]]], Solve]:
    """Makes a method from a function of a bench and options. The method has the function's name."""

    def registered(solve: Callable[[Bench, Own], Awaitable[None]]) -> Solve:
        async def solve_with_options(bench: Bench) -> None:
            assert isinstance(bench.options, options)
            await solve(bench, bench.options)

        SCAFFOLDS[solve.__name__] = Scaffold(
            solve.__name__, about, options, solve_with_options, forms, not_forms
        )
        return solve_with_options

    return registered


async def solved(bench: Bench, solve: Solve) -> Bench:
    """Runs a method until it ends or its budget is spent."""
    try:
        await solve(bench)
    except Spent as spent:
        bench.ended = f"the budget of {spent} is used up"
    return bench
