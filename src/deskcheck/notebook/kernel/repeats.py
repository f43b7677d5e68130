"""Whether the cells of a notebook give the same again in another fresh kernel.

Two executions of a cell are the same if their status and the text that a reader sees are equal: standard
output, the ``text/plain`` of each result and display in order, and an exception's class and message. Not
compared: the order of the streams, standard error (warnings name files and lines of libraries), tracebacks,
other MIME types, times, memory. Runs differ in their hash seed.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from deskcheck.notebook.trajectory.trajectory import Execution, Output, Status, Step
from deskcheck.recording.comparison.states import first_difference


@dataclass(frozen=True, slots=True)
class Text:
    """The compared text of an execution: standard output, each ``text/plain``, and an exception's class and
    message."""

    stdout: str
    plain: tuple[str, ...]
    error: tuple[str, str] | None

    @classmethod
    def of(cls, outputs: Sequence[Output]) -> "Text":
        """The text of outputs as a reader sees them (`Execution.shown`)."""
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


def difference(first: Execution, second: Execution) -> str | None:
    """Where two executions of a cell first differ, in words; None if they are the same."""
    if first.status != second.status:
        return f"status: {first.status} and {second.status}"
    lengths = [[o.length for o in execution.outputs if is_cut(o)] for execution in (first, second)]
    return text_difference(Text.of(first.shown()), Text.of(second.shown())) or (
        None if lengths[0] == lengths[1] else "length of the omitted output"
    )


def is_cut(output: Output) -> bool:
    """Whether compared text was left out. A picture can be left out while its text is there."""
    if output.length is None or (output.type == "stream" and output.name != "stdout"):
        return False
    return "text/plain" not in output.data


def text_difference(first: Text, second: Text) -> str | None:
    """Where two texts first differ, in words. None if they are the same."""
    if first.error != second.error:
        return "exception: " + " and ".join(
            "none" if error is None else f"{error[0]}: {error[1][:200]}"
            for error in (first.error, second.error)
        )
    if first.stdout != second.stdout:
        return f"stdout: {first_difference(first.stdout, second.stdout)}"
    if len(first.plain) != len(second.plain):
        return f"shown: {len(first.plain)} texts and {len(second.plain)}"
    for a, b in zip(first.plain, second.plain, strict=True):
        if a != b:
            return f"text/plain: {first_difference(a, b)}"
    return None


def marked(
    first: Iterable[Step],
    others: Sequence[Iterable[Step]],
    forgives: Callable[[Execution, Execution], bool] = lambda first, second: False,
) -> Iterator[Step]:
    """The steps of the first run. Each execution says whether it repeats in the other runs.

    The n-th execution is compared with the n-th of every other run. It is not compared if the other run did
    not reach it, or after a cell that a limit ended in only one of the two: limits depend on the machine.

    forgives: whether a difference between two executions does not count.
    """
    runs: list[Iterator[Execution]] = [
        (step for step in steps if isinstance(step, Execution)) for steps in others
    ]
    for step in first:
        if not isinstance(step, Execution):
            yield step
            continue
        again = [next(run, None) for run in runs]
        for number, rerun in enumerate(again):
            if rerun is not None and step.status != rerun.status and {step.status, rerun.status} & _LIMITS:
                runs[number], again[number] = iter(()), None
        compared = [rerun for rerun in again if rerun is not None]
        differences = ((rerun, difference(step, rerun)) for rerun in compared)
        where = next((text for rerun, text in differences if text and not forgives(step, rerun)), None)
        unknown = where is None and None in again
        yield replace(step, repeats=None if unknown else where is None, difference=where)


_FEW = 32
"""Words of 32 bits; `random.random` draws two."""
_LIMITS = {Status.TIMED_OUT, Status.OUT_OF_MEMORY}


def undecided(
    runs: Sequence[Iterable[Step]],
    forgives: Callable[[Execution, Execution], bool] = lambda first, second: False,
) -> bool:
    """Whether another run is needed: a cell that drew few numbers without a seed shows the same in all runs
    so far, which may be chance."""
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
    """A note that a repeating cell draws without a seed. None if it does not draw. runs: number of compared
    runs."""
    if not execution.drew or execution.repeats is False:
        return None
    text = f"draws from {', '.join(execution.drew)} without a seed"
    if not execution.shown():
        return text
    return f"{text}; equal in {runs} runs" if runs > 1 else f"{text}; there was one run"
