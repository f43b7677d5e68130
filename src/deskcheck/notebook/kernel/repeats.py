"""Whether the cells of a notebook give the same again when it runs in another fresh kernel.

Two executions of a cell are the same if they end with the same status and what a reader sees of their text
is equal, character by character: all of standard output, the ``text/plain`` of each result and display in
their order, and an exception's class and message. Each of these is compared by itself: in which order
the streams arrive is chance. Not compared: standard error (warnings name files and lines of libraries),
tracebacks, other MIME types, times, memory.

Runs differ in their hash seed, as those of programs do. What makes them differ is not looked for: where a
normaliser makes the two texts equal its name says what kind of difference it is (`normalise`)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from deskcheck.notebook.trajectory.trajectory import Execution, Output, Status, Step
from deskcheck.recording.comparison.states import first_difference


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
    time and memory there is depends on the machine. forgives: asked of two that differ whether that is to
    count.
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
        unknown = found is None and None in again
        yield replace(step, repeats=None if unknown else found is None, difference=found)


_FEW = 32
"""Words of 32 bits, two for each number of `random.random`."""
_LIMITS = {Status.TIMED_OUT, Status.OUT_OF_MEMORY}


def undecided(
    runs: Sequence[Iterable[Step]],
    forgives: Callable[[Execution, Execution], bool] = lambda one, other: False,
) -> bool:
    """Whether a cell that drew a few numbers without a seed shows the same in all runs so far, which may be
    chance, as few numbers have few outcomes."""
    first, *others = runs
    return any(
        isinstance(step, Execution)
        and step.drew
        and (step.draws is None or step.draws <= _FEW)
        and step.repeats
        and step.shown()
        for step in marked(first, others, forgives)
    )


def note(execution: Execution, runs: int) -> str | None:
    """In words, that a cell which repeats drew from generators without a seed; None: it did not. runs: that
    were compared."""
    if not execution.drew or execution.repeats is False:
        return None
    told = f"draws from {', '.join(execution.drew)} without a seed"
    if not execution.shown():
        return told
    return f"{told}; equal in {runs} runs" if runs > 1 else f"{told}; there was one run"


def _executions(steps: Iterable[Step]) -> Iterator[Execution]:
    return (step for step in steps if isinstance(step, Execution))
