"""Runs a cell that depends on earlier cells: the model supplies the values of undefined names.

This is the loop of SelfPiCo (arXiv:2407.16974): run, find the undefined name, ask for a value that fits, run
again. The name can be a variable, a function or a module of an earlier cell or another machine. The answer is
the effect of the cell. Values are expressions by the model, which run in the sandbox together with the cell.
No one checks that they are the true values.
"""

import ast
import re
from dataclasses import dataclass
from typing import Annotated

from deskcheck.ask.answers.parsing import CLOSE, OPEN, answer_in, unfenced
from deskcheck.ask.questions.notebooks import NO_EXCEPTION
from deskcheck.ask.samples.prompts import NOW
from deskcheck.fences import FENCED
from deskcheck.recording import Kind, Outcome, Recording
from deskcheck.settings import Setting
from deskcheck.sources.text.python import quiet_parse, statements
from deskcheck_methods.bench import Bench, Completion, Options, scaffold

FORMS = frozenset({"cell_output", "crash"})
"""Forms of answers that can be read from the effects of a cell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LookaheadOptions(Options):
    """fills: limit for the names that the model defines."""

    fills: Annotated[int, Setting("Maximum number of names that the model defines.", min=0)] = 10


_MISSING = (
    re.compile(r"NameError: name '(?P<name>[^\W\d]\w*)' is not defined"),
    re.compile(r"ModuleNotFoundError: No module named '(?P<module>[\w.]+)'"),
)
_BEGIN = "_shown = lambda value: None if value is None else print(repr(value))\n"


@scaffold("a cell is run; the model defines missing names", LookaheadOptions, forms=FORMS)
async def lookahead(bench: Bench, options: LookaheadOptions) -> None:
    """Run the cell with the model's values for undefined names, and answer with its effects."""
    cell = cell_in(bench.puzzle.prompt)
    if cell is None:
        bench.ended = "the cell cannot be run as Python: the model was asked directly"
        bench.offer(await bench.ask(bench.puzzle.prompt, "answer"))
        return
    filled: dict[str, str] = {}
    while True:
        recording = await bench.recorded(_with(filled, cell), None)
        run_result = recording.run_result
        ran, of = lines_run(recording, cell)
        bench.note(
            f"run with {len(filled)} names filled in",
            run_result.detail or run_result.outcome.value,
            trace=f"{ran} of {of} lines ran\n{run_result.stdout}",
            code=cell,
        )
        missing = _missing_in(run_result.detail) if run_result.outcome is Outcome.RAISED else None
        if missing is None or missing in filled or len(filled) >= options.fills:
            break
        completion = await bench.ask(_asked(bench, missing), f"value of {missing}")
        text = expression_in(completion)
        if text is None:
            break
        filled[missing] = text
    if filled and ran == 0:  # a value that was filled in could not be made
        missing = next(reversed(filled))
    if run_result.outcome is Outcome.RETURNED or (run_result.outcome is Outcome.RAISED and missing is None):
        bench.ended = f"the cell ran with {len(filled)} names filled in"
        bench.offer(Completion(text=f"{OPEN}{_answer(bench, recording)}{CLOSE}", stop_reason="stop"))
        return
    reason = run_result.detail or run_result.outcome.value
    bench.ended = f"the cell did not run ({reason}): the model was asked directly"
    bench.offer(await bench.ask(bench.puzzle.prompt, "answer"))


def cell_in(prompt: str) -> str | None:
    """The source of the cell that a prompt asks about; None if it is not complete Python."""
    cell = FENCED.search(prompt.rpartition(NOW)[2])
    if cell is None:
        return None
    try:
        body = quiet_parse(cell["text"]).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    return cell["text"] if body else None


def _with(filled: dict[str, str], cell: str) -> str:
    """The cell after a line that defines the model's values. It shows the cell's last expression."""
    lines = [_BEGIN]
    for name, text in filled.items():
        if name.startswith(_MODULE):
            module = name.removeprefix(_MODULE)
            lines.append(f"import sys\nsys.modules[{module!r}] = eval({text!r})\n")
        else:
            lines.append(f"{name} = eval({text!r})\n")
    return f"exec({''.join(lines)!r})\n{_showing(cell)}"


def _showing(cell: str) -> str:
    """The cell with a call of `_shown` around its last expression, if any. Line numbers do not change."""
    last = quiet_parse(cell).body[-1]
    if not isinstance(last, ast.Expr) or cell.rstrip().endswith(";"):
        return cell
    lines = cell.encode().split(b"\n")
    begin, end = last.value.lineno - 1, (last.value.end_lineno or last.value.lineno) - 1
    at = last.value.end_col_offset or 0
    lines[end] = lines[end][:at] + b"))" + lines[end][at:]
    at = last.value.col_offset
    lines[begin] = lines[begin][:at] + b"_shown((" + lines[begin][at:]
    return b"\n".join(lines).decode()


_MODULE = "module "


def _missing_in(detail: str) -> str | None:
    """The undefined name in the error of a run: a name, or ``module NAME``."""
    for form in _MISSING:
        if match := form.match(detail):
            groups = match.groupdict()
            return groups["name"] if "name" in groups else _MODULE + groups["module"]
    return None


def _asked(bench: Bench, missing: str) -> str:
    what = f"The {missing}" if missing.startswith(_MODULE) else f"The name {missing}"
    return (
        f"{bench.puzzle.prompt}\n\nDo not answer yet. The cell is run by itself, and something it needs is "
        f"not there. {what} is not defined. Give one Python expression for the value that it has at that "
        f"moment, as far as you can tell from the cells before: a literal, a lambda, or an object of the "
        f"standard library; for a module, something with its attributes. Write the expression between "
        f"{OPEN} and {CLOSE}."
    )


def expression_in(completion: Completion) -> str | None:
    """The Python expression in a completion."""
    text = answer_in(completion.text)
    if text is None:
        return None
    text = unfenced(text)
    try:
        ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    return text.strip()


def lines_run(recording: Recording, cell: str) -> tuple[int, int]:
    """The number of statements' first lines that ran, and the number of all: the measure of SelfPiCo."""
    begins = {node.lineno for node in statements(quiet_parse(cell).body)}
    ran = {
        row.line - 1
        for row in recording.trace.rows
        if row.kind == Kind.LINE and row.file == recording.program.filename
    }
    return len(begins & ran), len(begins)


def _answer(bench: Bench, recording: Recording) -> str:
    run_result = recording.run_result
    raised = run_result.outcome is Outcome.RAISED
    if bench.puzzle.form == "crash":
        return str(run_result.exception).rpartition(".")[2] if raised else NO_EXCEPTION
    return f"{run_result.stdout}{run_result.detail}" if raised else run_result.stdout
