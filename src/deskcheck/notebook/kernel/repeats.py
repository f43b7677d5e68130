"""Whether the cells of a notebook give the same again when it runs in another fresh kernel.

Two executions of a cell are the same if they end with the same status and what a reader sees of their text
is equal, character by character: all of standard output, the ``text/plain`` of each result and display in
their order, and an exception's class and message. Each of these is compared by itself: in which order
the streams arrive is chance. Not compared: standard error (warnings name files and lines of libraries),
tracebacks, other MIME types, times, memory.

Runs differ in their hash seed, as those of programs do. What makes them differ is not looked for: where a
normaliser makes the two texts equal its name says what kind of difference it is (`normalise`)."""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from deskcheck.notebook.state.dependencies import parse
from deskcheck.notebook.trajectory.chance import ChanceKind, ChanceSource
from deskcheck.notebook.trajectory.trajectory import Execution, Output, Status, Step
from deskcheck.recording.comparison.runs import first_difference

_OF_TIMING = re.compile(
    r"^(?:CPU times: user .*|Wall time: .*|Compiler ?: .*|[\d.]+ [nµμum]?s ± .* per loop \(mean .*)\n",
    re.MULTILINE,
)
"""Lines that IPython's magics print."""

_OBJECTS = re.compile(
    r"<|[\[(](?:<[\w.]+ (?:object )?at 0x[0-9a-f]+>(?:,\s*)?)+[\])]\Z"
    r"|array\([\[\s]*(?:<(?:Axes|matplotlib)[^<>]*>[\[\],\s]*)+dtype=object\)\Z"
)
"""A text of an object without a text of its own, of a list of such, or of an array of matplotlib's axes."""


@dataclass(frozen=True, slots=True)
class Text:
    """What is compared of an execution: standard output, the ``text/plain`` of what was shown, in order, and
    an exception's class and message."""

    stdout: str
    plain: tuple[str, ...]
    error: tuple[str, str] | None

    @classmethod
    def of(cls, outputs: Sequence[Output]) -> "Text":
        """Of the outputs as a reader sees them: `Execution.shown`."""
        plain = (o.data.get("text/plain") for o in outputs if o.type in ("execute_result", "display_data"))
        error = next((o for o in outputs if o.type == "error"), None)
        return cls(
            "".join(o.text or "" for o in outputs if o.type == "stream" and o.name == "stdout"),
            tuple(str(text) for text in plain if text is not None),
            None if error is None else (error.name or "", error.value or ""),
        )

    def with_texts(self, changed: Callable[[str], str]) -> "Text":
        """The same with every text changed."""
        error = None if self.error is None else (self.error[0], changed(self.error[1]))
        return Text(changed(self.stdout), tuple(map(changed, self.plain)), error)

    def without_error(self) -> "Text":
        """The same without the exception."""
        return replace(self, error=None)


def difference(one: Execution, other: Execution) -> str | None:
    """Where two executions of a cell first differ, in words; None if they are the same."""
    if one.status != other.status:
        return f"status: {one.status} and {other.status}"
    lengths = [[o.length for o in each.outputs if is_cut(o)] for each in (one, other)]
    return text_difference(Text.of(one.shown()), Text.of(other.shown())) or (
        None if lengths[0] == lengths[1] else "length of what was left out of the outputs"
    )


def is_cut(output: Output) -> bool:
    """Whether text of it that would be compared was left out; of a picture that was, the text is there."""
    if output.length is None or (output.type == "stream" and output.name != "stdout"):
        return False
    return "text/plain" not in output.data


def text_difference(one: Text, other: Text) -> str | None:
    """As `difference`, of the text alone."""
    if one.error != other.error:
        return "exception: " + " and ".join(
            "none" if error is None else f"{error[0]}: {error[1][:200]}" for error in (one.error, other.error)
        )
    if one.stdout != other.stdout:
        return f"stdout: {first_difference(one.stdout, other.stdout)}"
    if len(one.plain) != len(other.plain):
        return f"shown: {len(one.plain)} texts and {len(other.plain)}"
    for a, b in zip(one.plain, other.plain, strict=True):
        if a != b:
            return f"text/plain: {first_difference(a, b)}"
    return None


def marked(
    first: Iterable[Step],
    others: Sequence[Iterable[Step]],
    forgives: Callable[[Execution, Execution], bool] = lambda one, other: False,
) -> Iterator[Step]:
    """The steps of the first run, each execution with whether it repeats in the others.

    The n-th execution is compared with the n-th of every other run. One that another run did not come to, as
    its time was up, is not checked, nor what follows a cell that a limit ended in one of the two: how much
    time and memory there is depends on the machine. One that drew from a random generator without a seed and
    shows something does not repeat, also where all runs show the same: that is chance. forgives: asked of two
    that differ whether that is to count.
    """
    runs = [_executions(steps) for steps in others]
    for step in first:
        if not isinstance(step, Execution):
            yield step
            continue
        again = [next(run, None) for run in runs]
        for number, other in enumerate(again):
            if other is not None and step.status != other.status and {step.status, other.status} & _LIMITS:
                runs[number], again[number] = iter(()), None
        there = [other for other in again if other is not None]
        found = next(
            (d for other in there if (d := difference(step, other)) and not forgives(step, other)), None
        )
        if found is None and there and luck(step) and shows(step):
            found = drawn(step)
        unknown = found is None and None in again
        yield replace(step, repeats=None if unknown else found is None, difference=found)


_LIMITS = {Status.TIMED_OUT, Status.OUT_OF_MEMORY}


def shows(execution: Execution) -> bool:
    """Whether a cell shows a text that could be another: not what it prints of constants alone, nor what
    ``%time`` and ``%timeit`` print, which are durations."""
    text = Text.of(execution.shown())
    if text.error or not all(map(_OBJECTS.match, text.plain)):
        return True
    stdout = _OF_TIMING.sub("", text.stdout)
    return bool(stdout) and stdout != _constants(execution.source)


def _constants(source: str) -> str:
    """What the prints of constants at the top level of a cell give."""
    tree = parse(source)
    told = ""
    for statement in tree.body if tree is not None else ():
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "print"):
            continue
        given = [each.value for each in call.args if isinstance(each, ast.Constant)]
        if len(given) == len(call.args) and not call.keywords:
            told += " ".join(map(str, given)) + "\n"
    return told


def luck(execution: Execution) -> tuple[ChanceSource, ...]:
    """What of a cell is chance, whatever its runs give: not what may decide nothing."""
    return tuple(each for each in execution.drew if each.is_sure)


def hidden(execution: Execution) -> str | None:
    """In words, why a cell whose fresh runs agree may give something else by chance: a library drew from a
    generator for all. None: none did. A library's own generator, as sympy has one to verify what it found,
    does not count. Nor is it known where looking for chance failed."""
    failed = failure(execution)
    if failed is not None:
        return failed
    labels = [each.label for each in execution.drew if each.kind is ChanceKind.PERHAPS]
    found = [each for each in ("random", "numpy.random") if each in labels]
    return f"a library drew from {', '.join(found)}, for which no seed was set" if found else None


def failure(execution: Execution) -> str | None:
    """In words, why it is not known what of a cell is chance; None: it is known."""
    errors = [each.label for each in execution.drew if each.kind is ChanceKind.UNSEEN]
    return f"what of it is chance could not be looked at ({'; '.join(errors)})" if errors else None


def drawn(execution: Execution) -> str:
    """In words, why a cell that drew, or shows what is another in each run, is not expected to repeat."""
    sources = luck(execution)
    drew = [each.label for each in sources if each.kind is ChanceKind.DRAWN]
    read = [each.label for each in sources if each.kind is ChanceKind.READ]
    shown = [each.label for each in sources if each.kind not in (ChanceKind.DRAWN, ChanceKind.READ)]
    parts = [f"drew from {', '.join(drew)}, for which no seed was set"] if drew else []
    parts += [f"shows {', '.join(shown)}: another in each run"] if shown else []
    parts += [f"{', '.join(read)}, for which no seed was set, and may depend on it"] if read else []
    return "; ".join(parts)


def _executions(steps: Iterable[Step]) -> Iterator[Execution]:
    return (step for step in steps if isinstance(step, Execution))
