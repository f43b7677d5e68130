"""Questions about notebooks: the samples, what may stand in a prompt, baselines, and the whole road through Inspect."""

import contextlib
import dataclasses
import io
import json
import random
import traceback
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from deskcheck.ask import NOTEBOOK_QUESTIONS, NotebookOptions, Sample, ask, effects, score_answer
from deskcheck.ask.baselines import guess, oracle
from deskcheck.ask.questions.notebooks import (
    MORE_THAN_RAISE,
    REPLAY,
    normalised,
    notebook_samples,
    shown_text,
    trajectory_files,
)
from deskcheck.ask.scoring.running import by_running
from deskcheck.ask.scoring.score import METRICS
from deskcheck.cli import app
from deskcheck.notebook.settings import VIEWS
from deskcheck.notebook.state.capture import Capture, StateLimits
from deskcheck.notebook.state.views import estimate_tokens
from deskcheck.notebook.trajectory.file import write_trajectory
from deskcheck.notebook.trajectory.trajectory import (
    Cell,
    Execution,
    Output,
    Restart,
    Status,
    Step,
    Trajectory,
)
from deskcheck.recording import InputError
from deskcheck.sandbox.confinement import Confinement

Cells = Sequence[tuple[str, str] | None]
"""(cell id, source) in the order of execution; None: the kernel is restarted."""


def run(folder: Path, name: str, cells: Cells, *, state: bool = True, repeats: bool | None = True) -> Path:
    """Executes cells in this process and writes the trajectory that a kernel would have given."""
    order = tuple(dict.fromkeys(cell[0] for cell in cells if cell is not None))
    steps: list[Step] = []
    names: dict[str, Any] = {}
    hidden: dict[str, Any] = {}
    capture = Capture(StateLimits(time_s=60))
    count = 0
    for cell in [None, *cells]:
        if cell is None:
            names, capture, count = {"__name__": "__main__"}, Capture(StateLimits(time_s=60)), 0
            exec("", names)
            hidden = dict(names)
            if steps:
                steps.append(Restart(order=order))
            continue
        count += 1
        outputs, status = _execute(cell[1], names, count)
        steps.append(
            Execution(
                cell=cell[0],
                source=cell[1],
                order=order,
                status=status,
                count=count,
                outputs=outputs,
                state=capture.after_cell(names, hidden, cell[1]) if state else None,
                repeats=repeats,
            )
        )
    path = folder / f"{name}.trajectory.parquet"
    stood = tuple(Cell(id=id_, source="") for id_ in order)
    write_trajectory(path, Trajectory(id=name, source="replay", cells=stood, steps=steps))
    return path


def _execute(source: str, names: dict[str, Any], count: int) -> tuple[tuple[Output, ...], Status]:
    """As IPython: what is printed, the value of the last expression, the exception."""
    printed, outputs = io.StringIO(), []
    status = Status.OK
    *head, last = source.splitlines() or [""]
    with contextlib.redirect_stdout(printed):
        try:
            value = None
            try:
                code = compile(last, "cell", "eval")
            except SyntaxError:
                exec(source, names)
            else:
                exec("\n".join(head), names)
                value = eval(code, names)
            if value is not None:
                outputs.append(Output(type="execute_result", data={"text/plain": repr(value)}, count=count))
        except Exception as error:  # noqa: BLE001 (the cell's own)
            status = Status.ERROR
            text = "".join(traceback.format_exception(error))
            outputs.append(Output(type="error", name=type(error).__name__, value=str(error), text=text))
    if printed.getvalue():
        outputs.insert(0, Output(type="stream", name="stdout", text=printed.getvalue()))
    return tuple(outputs), status


def written(folder: Path, *executions: dict[str, Any], state: Any) -> Path:
    """A trajectory of cells that ended well, of which each is executed once. executions: their other fields."""
    order = tuple(str(number) for number in range(len(executions)))
    usual: dict[str, Any] = {"source": "", "status": Status.OK, "outputs": (), "repeats": True}
    steps = [
        Execution(cell=id_, count=int(id_) + 1, order=order, state=state, **usual | cell)
        for id_, cell in zip(order, executions, strict=True)
    ]
    path = folder / "n.trajectory.parquet"
    cells = tuple(Cell(id=id_, source="") for id_ in order)
    write_trajectory(path, Trajectory(id="n", source="ipynb", cells=cells, steps=steps))
    return path


ANALYSIS: Cells = [
    ("a", "import math\nrows = [1, 2, 3]"),
    ("b", "scale = 2"),
    ("c", "def double(x):\n    return x * scale"),
    ("d", "rows"),
    ("e", "total = sum(map(double, rows))"),
    ("f", "total"),
    ("e", "total = sum(map(double, rows)) + 1  # one more"),
    ("f", "total"),
    ("g", "print('done')\nrows.append(total)"),
    ("d", "rows"),
    ("h", "rows[99]"),
    ("i", "[double(row) for row in rows]"),
]


def samples_of(
    *files: Path, question: str = "cell_output", seed: int = 0, per_recording: int | None = None, **more: Any
) -> dict[str, tuple[list[Sample], Counter[str]]]:
    given: dict[str, Any] = {"state": VIEWS, "quantile": 1.0} | more
    options = NotebookOptions(**given)
    made = notebook_samples(files, [question], options, seed=seed, per_recording=per_recording)
    return {state: found for (_, state), found in made.items()}


@pytest.mark.parametrize("question", NOTEBOOK_QUESTIONS)
def test_the_same_sample_in_every_view(tmp_path: Path, question: str) -> None:
    """Same ids, answers and prompts, but for the part that shows the state; that of `none` is absent."""
    made = samples_of(run(tmp_path, "n", ANALYSIS), question=question)
    without = made["none"][0]
    assert len(without) == {"cell_output": 6, "next_cell": 7, "crash": 2}[question]
    for state, (samples, _) in made.items():
        assert [(s.id, s.answer) for s in samples] == [(s.id, s.answer) for s in without]
        for sample, base in zip(samples, without, strict=True):
            assert {k: v for k, v in sample.parts.items() if k != "state"} == base.parts
            assert ("state" in sample.parts) == (state != "none")
            assert sample.data["state"]["kind"] == state


def test_what_is_asked_and_how_it_is_answered(tmp_path: Path) -> None:
    """Outputs are what a reader sees; the prompt has the cells before, their outputs, and the cell."""
    samples = samples_of(run(tmp_path, "n", ANALYSIS))["none"][0]
    assert [s.answer for s in samples] == [
        "12",
        "13",
        "done",
        "[1, 2, 3, 13]",
        "IndexError: list index out of range",
        "[2, 4, 6, 26]",
    ]
    assert [s.data["kind"] for s in samples] == ["result", "result", "stream", "result", "error", "result"]
    prompt = samples[-1].prompt
    assert prompt.index("In [1], cell a:") < prompt.index("In [11], cell h:") < prompt.index("Executed now")
    assert "It showed:\n```\nIndexError: list index out of range\n```" in prompt
    assert prompt.endswith("Executed now, In [12], cell i:\n```python\n[double(row) for row in rows]\n```")
    assert samples[-1].data["history"]["cells"] == 11


CRASHES: list[tuple[str, str] | None] = [
    *(("a", f"x = {n}") for n in range(6)),
    ("b", "y = x / 0"),
    ("c", "print(y)"),
    ("b", "y = x / 1"),
    ("d", "raise ValueError('so')"),
    ("e", "y"),
    ("f", "import json; json.loads('{')"),
]


@pytest.mark.parametrize("seed", range(3))
def test_crashes(tmp_path: Path, seed: int) -> None:
    """As many cells that raise as others; of these the seed decides which. What says itself that it raises is out."""
    ((samples, excluded),) = samples_of(
        run(tmp_path, "n", CRASHES), question="crash", state=("names",), seed=seed
    ).values()
    answers = {sample.data["step"]: sample.answer for sample in samples}
    raising = {step: answer for step, answer in answers.items() if answer != "None"}
    assert raising == {6: "ZeroDivisionError", 7: "NameError", 11: "JSONDecodeError"}
    assert {step for step in answers if step not in raising} == {5, 8, 10}
    assert excluded == {
        "fewer than 5 actions before it": 5,
        "it has a raise statement": 1,
        MORE_THAN_RAISE: 0,
    }
    (of_y,) = (sample for sample in samples if sample.data["step"] == 8)
    assert of_y.data["copy"] == "ZeroDivisionError"
    assert "y = x / 1" in of_y.parts["question"]
    assert "y: " not in of_y.parts["state"]
    parts = ("lenient", "right_class", "right_whether")
    (of_name,) = (sample for sample in samples if sample.data["step"] == 7)
    for said, scores in {
        "NameError": (1, 1, 1),
        "<class 'NameError'>": (1, 0, 0),
        "builtins.NameError": (1, 0, 0),
        "TypeError": (0, 0, 1),
        "None": (0, 0, 0),
        "It raises": (0, 0, 0),
    }.items():
        given = score_answer(of_name, f"[ANSWER]{said}[/ANSWER]")
        metrics = dict(zip(parts, scores, strict=True))
        assert (given.score, given.metrics) == (scores[1], metrics), said


def test_what_used_shows(tmp_path: Path) -> None:
    """Of an output, what its cell depends on, through functions; of the next cell, what the last three used."""
    path = run(tmp_path, "n", ANALYSIS)
    sample = samples_of(path)["used"][0][-1]
    assert [v["name"] for v in sample.data["state"]["variables"]] == ["rows", "double", "scale"]
    assert "rows: list = [1, 2, 3, 13]\ndouble: function(x)\nscale: int = 2\n" in sample.parts["state"]
    following = samples_of(path, question="next_cell")["used"][0][-1]
    assert [v["name"] for v in following.data["state"]["variables"]] == ["rows", "total"]


def test_the_prompt_says_which_variables_it_shows(tmp_path: Path) -> None:
    """A view that shows none of the variables that there are does not say that there are none."""
    cells: Cells = [*(("a", f"x = {n}") for n in range(5)), ("b", "pass"), ("c", "3 + 4")]
    path = run(tmp_path, "n", cells)
    shown = {state: found[-1].parts.get("state") for state, (found, _) in samples_of(path).items()}
    moment, written = "Variables of the kernel at this moment", "as name: type = value:\n```\n"
    assert shown == {
        "none": None,
        "names": f"{moment}, as name: type:\n```\nx: int\n```",
        "used": f"{moment} that the cell depends on, {written}(none)\n```",
        "changed": f"{moment} that the last cell added, bound again or changed, {written}(none)\n```",
        "full": f"{moment}, {written}x: int = 4\n```",
    }
    following = samples_of(path, question="next_cell")["used"][0][-1].parts["state"]
    assert following == f"{moment} that the last cells read or bound, {written}x: int = 4\n```"


def test_a_variable_with_the_name_of_a_builtin_is_used(tmp_path: Path) -> None:
    """What a cell calls `list` is what the kernel has under that name."""
    cells: Cells = [*(("a", f"x = {n}") for n in range(4)), ("b", "list = 5"), ("c", "list(range(x))")]
    (sample,) = samples_of(run(tmp_path, "n", cells))["used"][0]
    assert sample.answer == "TypeError: 'int' object is not callable"
    assert "list: int = 5\n" in sample.parts["state"]
    cells = [*cells[:4], ("b", "y = 1"), ("c", "print(len(list(range(x))))")]
    (sample,) = samples_of(run(tmp_path, "m", cells))["used"][0]
    assert "```\nx: int = 3\n```" in sample.parts["state"]


def test_the_next_cell_does_not_leak(tmp_path: Path) -> None:
    """Whatever the target is, the prompt before it is the same, in every view."""
    prompts = []
    for number, target in enumerate(("print(scale, 'tulip')", "def tulip():\n    return math.pi * total")):
        folder = tmp_path / str(number)
        path = run(folder, "n", [*ANALYSIS, ("z", target)])
        made = samples_of(path, question="next_cell")
        prompts.append({state: found[-1].prompt for state, (found, _) in made.items()})
        assert all(found[-1].answer == target for found, _ in made.values())
    assert prompts[0] == prompts[1]
    assert "tulip" not in "".join(prompts[0].values())


def test_states_are_those_before_the_target(tmp_path: Path) -> None:
    """A cell that changes what it shows is asked with what was there before it; a restart clears all."""
    cells: Cells = [("a", f"x = {n}") for n in range(5)]
    path = run(tmp_path, "n", [*cells, ("b", "x = x + 37\nx"), None, ("c", "y = 1\ny"), ("d", "y")])
    samples = samples_of(path)["full"][0]
    assert [s.answer for s in samples] == ["41", "1", "1"]
    assert "x: int = 4" in samples[0].parts["state"]
    assert samples[1].parts["state"].endswith("```\n(none)\n```")
    assert samples[1].parts["question"].startswith("The kernel was restarted")
    assert "(The kernel was restarted: all variables were gone.)\nIn [1], cell c" in samples[2].prompt
    assert "x: int" not in samples[2].parts["state"]
    following = samples_of(path, question="next_cell", actions=0)["used"][0]
    assert [v["name"] for v in following[-1].data["state"]["variables"]] == ["y"]


def test_everything_left_out_is_counted(tmp_path: Path) -> None:
    """Samples and reasons add up to the executions, for each question and view; the views exclude the same."""
    cells: Cells = [
        *ANALYSIS,
        ("j", "x = 1"),
        ("k", "print('[ANSWER]')"),
        ("l", "print('long ' * 99)"),
        ("m", " "),
    ]
    files = [
        run(tmp_path, "yes", cells),
        run(tmp_path, "no", cells, repeats=False),
        run(tmp_path, "unknown", cells, repeats=None),
        run(tmp_path, "stateless", cells, state=False),
    ]
    for question in NOTEBOOK_QUESTIONS:
        made = samples_of(*files, question=question, quantile=0.8)
        for samples, excluded in made.values():
            assert len(samples) + excluded.total() == 4 * len(cells)
            assert excluded == made["none"][1]
            assert (
                {s.program for s in samples} == {"yes"}
                if question == "cell_output"
                else {"yes", "no", "unknown"}
            )
    _, excluded = samples_of(*files, quantile=0.8)["none"]
    assert excluded == {
        "fewer than 5 actions before it": 20,
        "shows no text": 12,
        "the answer contains the marks that enclose answers": 2,
        "its output does not repeat": 8,
        f"its output was not checked for repeatability: {REPLAY}": 8,
        "longer than the 0.8 quantile (35 characters)": 2,
        "the state before it was not recorded": 6,
    }
    assert len(samples_of(*files, unchecked=True)["none"][0]) == 14
    assert len(samples_of(*files, state=("none",))["none"][0]) == 14
    assert samples_of(*files, question="next_cell")["none"][1]["empty"] == 4


def test_near_duplicates_are_marked(tmp_path: Path) -> None:
    """A source that is the same but for comments and layout, or 0.9 similar; of outputs, with the same output."""
    path = run(tmp_path, "n", ANALYSIS)
    near = {
        s.data["step"]: s.data["near_duplicate"] for s in samples_of(path, question="next_cell")["none"][0]
    }
    assert near == {5: False, 6: True, 7: True, 8: False, 9: True, 10: False, 11: False}
    near = {s.data["step"]: s.data["near_duplicate"] for s in samples_of(path)["none"][0]}
    assert not near[7], "another total"
    assert not near[9], "another row"
    path = run(tmp_path / "two", "n", [*ANALYSIS[:6], ("f", "total # again")])
    assert samples_of(path)["none"][0][-1].data["near_duplicate"]
    assert normalised("a =1 # x\n\n") == normalised("a = 1") == "a = 1"


def test_the_history_keeps_the_newest(tmp_path: Path) -> None:
    """Under a small budget the oldest cells go, and the account says how many."""
    path = run(tmp_path, "n", ANALYSIS)
    for budget in (0, 20, 60, 100, 10_000):
        for sample in samples_of(path, history_tokens=budget)["none"][0]:
            account = sample.data["history"]
            before = account["cells"] + account["left_out"]
            assert account["tokens"] <= budget
            assert f"In [{before}]" in sample.prompt or account["cells"] == 0
            assert (account["left_out"] > 0) == ("are not shown" in sample.prompt)
    long = run(tmp_path / "long", "n", [("a", "x = 0")] * 5 + [("b", "print('y' * 5000)"), ("c", "1")])
    sample = samples_of(long)["none"][0][-1]
    assert sample.data["history"]["shortened"] == 1
    assert "characters left out)" in sample.prompt
    assert estimate_tokens(sample.parts["history"]) < 4000


def test_drawing_from_each_notebook(tmp_path: Path) -> None:
    """So many from each, the same for one seed, in every view, whatever else is asked."""
    files = [run(tmp_path, name, ANALYSIS) for name in "ab"]
    made = samples_of(*files, per_recording=2)
    ids = [s.id for s in made["none"][0]]
    assert Counter(s.program for s in made["none"][0]) == {"a": 2, "b": 2}
    assert all([s.id for s in samples] == ids for samples, _ in made.values())
    assert [s.id for s in samples_of(files[1], state=("full",), per_recording=2)["full"][0]] == ids[2:]
    seeds = {tuple(s.id for s in samples_of(*files, per_recording=2, seed=n)["none"][0]) for n in range(9)}
    assert len(seeds) > 1


@pytest.mark.parametrize("question", NOTEBOOK_QUESTIONS)
def test_the_oracle_and_the_baselines(tmp_path: Path, question: str) -> None:
    """The truth scores 1 in every metric and view; a copy, a guess, nothing and the unreadable by their rules."""
    made = samples_of(run(tmp_path, "n", ANALYSIS), question=question)
    every = [sample for samples, _ in made.values() for sample in samples]
    oracle.remember(every)
    for sample in every:
        given = score_answer(sample, oracle.completion(sample.prompt))
        assert given.score == 1
        assert given.metrics == dict.fromkeys(METRICS[question], 1.0)
        copied = score_answer(sample, oracle.copied(sample.prompt))
        assert copied.answer == sample.data["copy"]
        empty = score_answer(sample, guess.nothing(sample.prompt))
        nothing = None if question == "crash" else ""
        assert (empty.answer, empty.score, set(empty.metrics.values())) == (nothing, 0, {0.0})
        unread = score_answer(sample, "I do not know")
        assert (unread.answer, unread.score, set(unread.metrics)) == (None, 0, set(METRICS[question]))
    oracle.forget(every)
    copies = [sample.data["copy"] for sample in made["none"][0]]
    said = {
        state: [score_answer(s, guess.completion(s.prompt)).score for s in samples]
        for state, (samples, _) in made.items()
    }
    if question == "cell_output":
        assert copies == ["", "12", "", "[1, 2, 3]", "", ""]
        assert said["none"] == [0, 0, 1, 0, 0, 0]  # a literal is printed
        assert said["used"] == said["full"] == [1, 1, 1, 1, 0, 0]
    elif question == "crash":
        assert copies == ["None", "None"]
        assert set(map(sum, said.values())) == {1}
    else:
        assert copies[1] == "total = sum(map(double, rows))"
        answered = score_answer(made["none"][0][0], guess.completion(made["none"][0][0].prompt)).answer
        assert answered == ANALYSIS[4][1]  # type: ignore[index]


def test_the_recorded_value_counts(tmp_path: Path) -> None:
    """Where the cell shows a variable, its recorded value written otherwise is right, and a near miss is not."""
    np = pytest.importorskip("numpy", reason="would have proved that arrays are scored by what was recorded")
    head: Cells = [("a", "import numpy as np")] * 5
    path = run(tmp_path, "n", [*head, ("b", "m = np.arange(4.).reshape(2, 2)"), ("c", "m")])
    (sample,) = samples_of(path)["none"][0]
    assert sample.answer == repr(np.arange(4.0).reshape(2, 2))
    assert score_answer(sample, "[ANSWER][[0, 1], [2, 3]][/ANSWER]").score == 1
    assert score_answer(sample, "[ANSWER][[0, 1], [2, 3.1]][/ANSWER]").score == 0
    assert score_answer(sample, "[ANSWER][0, 1, 2, 3][/ANSWER]").score == 0


@pytest.mark.parametrize(
    ("source", "right", "wrong"),
    [
        ("m = np.array(5.5)\nm", "5.5", "[5.5]"),
        ("m = np.ma.array([1, 2], mask=[0, 1])\nm", "[1, None]", "[1, 2]"),
        ("m = pd.Series([1, 2], index=[1, 1])\nm", None, "{1: 2}"),
        ("m = pd.Series([1, 2])[::-1]\nm", None, "[2, 1]"),
        ("m = pd.Series([1, 2], index=range(5, 7))\nm", None, "[1, 2]"),
        ("m = pd.Series([1, 2])\nm", "[1, 2]", "[2, 1]"),
        ("m = pd.DataFrame([[1, 2]], columns=['a', 'a'])\nm", None, "{'a': [2]}"),
        ("m = pd.DataFrame(index=range(3))\nm", None, "{}"),
        ("m = pd.DataFrame({'a': [1, 2]})\nm", "{'a': [1, 2]}", "{'a': [1]}"),
    ],
)
def test_the_recorded_value_says_all_that_is_shown(
    tmp_path: Path, source: str, right: str | None, wrong: str
) -> None:
    """Written as Python it counts only where nothing is lost: labels, masks, axes."""
    pytest.importorskip("pandas", reason="would have proved that values which lose labels do not count")
    head: Cells = [("a", "import numpy as np, pandas as pd")] * 5
    (sample,) = samples_of(run(tmp_path, "n", [*head, ("b", source)]))["none"][0]
    assert score_answer(sample, f"[ANSWER]{wrong}[/ANSWER]").score == 0
    if right is not None:
        assert score_answer(sample, f"[ANSWER]{right}[/ANSWER]").score == 1


def test_a_value_beside_another_output_is_not_the_whole_answer(tmp_path: Path) -> None:
    """Of a cell that displays two things, the last one alone is wrong."""
    shown = (
        Output(type="display_data", data={"text/plain": "1"}),
        Output(type="execute_result", data={"text/plain": "[2]"}),
    )
    state = Capture(StateLimits()).after_cell({"x": 1, "y": [2]}, {}, "")
    path = written(tmp_path, *[{}] * 5, {"source": "display(x)\ny", "outputs": shown}, state=state)
    (sample,) = samples_of(path)["full"][0]
    assert (sample.answer, sample.data["value"]) == ("1\n[2]", None)
    assert score_answer(sample, "[ANSWER][2][/ANSWER]").score == 0


def test_the_text_that_a_cell_shows() -> None:
    """Printed text, then results, then the exception; no pictures, no standard error, nothing that was cleared."""
    outputs = (
        Output(type="stream", name="stdout", text="gone"),
        Output(type="clear_output", wait=False),
        Output(type="stream", name="stdout", text="a\n"),
        Output(type="execute_result", data={"text/plain": "3"}),
        Output(type="stream", name="stderr", text="warning"),
        Output(type="display_data", data={"text/plain": "<Figure>", "image/png": "..."}),
        Output(type="stream", name="stdout", text="b\n"),
        Output(type="error", name="KeyError", value="'k'", text="Traceback"),
    )
    ran = Execution(cell="a", source="", order=("a",), status=Status.ERROR, outputs=outputs)
    assert shown_text(ran) == ("a\nb\n3\nKeyError: 'k'", "stream+result+error")
    caught = dataclasses.replace(ran, status=Status.OK)
    assert shown_text(caught) == ("a\nb\n3", "stream+result"), "no exception leaves it"


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("SyntaxError", "invalid syntax (4219528267.py, line 1)", "SyntaxError: invalid syntax"),
        ("SyntaxError", "invalid syntax (<ipython-input-3-5c2b>, line 1)", "SyntaxError: invalid syntax"),
        ("SyntaxError", "my own (words)", "SyntaxError: my own (words)"),
        ("ValueError", "bad row (a.csv, line 3)", "ValueError: bad row (a.csv, line 3)"),
    ],
)
def test_a_syntax_error_is_shown_without_the_name_of_its_cell(name: str, value: str, shown: str) -> None:
    """The kernel's name for a cell is a hash of its text: nobody sees it, and no model can tell it."""
    outputs = (Output(type="error", name=name, value=value, text="Traceback"),)
    ran = Execution(cell="a", source="q = 3 +", order=("a",), status=Status.ERROR, outputs=outputs)
    assert shown_text(ran) == (shown, "error")


def test_what_cannot_be_asked(tmp_path: Path) -> None:
    """Unknown views, folders without trajectories, the same notebook twice: refused, naming the way out."""
    with pytest.raises(InputError, match=r"unknown state 'all'\. The states are none"):
        NotebookOptions(state=("all",))
    with pytest.raises(InputError, match="each once"):
        NotebookOptions(state=("full", "full"))
    with pytest.raises(InputError, match="quantile=0"):
        NotebookOptions(quantile=0)
    with pytest.raises(InputError, match="deskcheck record notebooks:"):
        trajectory_files([tmp_path])
    for folder in "ab":
        run(tmp_path / folder, "n", ANALYSIS)
    with pytest.raises(InputError, match="both have the id 'n'"):
        samples_of(*trajectory_files([tmp_path]))


@pytest.mark.slow
@pytest.mark.parametrize("question", ["cell_output", "crash"])
def test_what_the_recorder_made_of_a_cell_is_not_asked(tmp_path: Path, question: str) -> None:
    """Where the sandbox refuses something, or nobody is there to answer `input`, a user would see another text."""
    state = Capture(StateLimits()).after_cell({}, {}, "")
    raising: list[dict[str, Any]] = [
        {
            "source": f"cell({name})",
            "status": Status.ERROR,
            "outputs": (Output(type="error", name=name, value="no", text="no"),),
        }
        for name in ("OSError", "StdinNotImplementedError", "KeyError")
    ]
    raising[0]["confined"] = "network"
    path = written(tmp_path, *[{}] * 5, *raising, state=state)
    made, excluded = samples_of(path, question=question, state=("none",))["none"]
    assert {sample.answer.partition(":")[0] for sample in made} <= {"KeyError", "None"}
    assert excluded["the sandbox refused it something: network"] == 1
    assert excluded["it asks the user for input"] == 1


def test_scoring_by_running(tmp_path: Path) -> None:
    """The true cell and a rewrite do the same, a near miss and the unreadable do not; and of a cell whose output
    is another each time nothing is said, with the reason."""
    pytest.importorskip("IPython", reason="would have proved that next cells are scored by running them")
    path = run(tmp_path, "n", [*ANALYSIS, ("t", "import time\ntime.perf_counter_ns()")])
    samples = {s.data["step"]: s for s in samples_of(path, question="next_cell", state=("none",))["none"][0]}

    @dataclasses.dataclass
    class Row:
        id: str
        completion: str
        data: str

    answers = [
        (6, "total = sum(map(double, rows)) + 1"),
        (6, "extra = 1\ntotal = sum([double(row) for row in rows]) + extra\ndel extra"),
        (6, "total = sum(map(double, rows)) + 2"),
        (10, "rows[99]"),
        (10, "rows[98]"),
        (10, "{}[99]"),
        (11, "[row * 2 for row in rows]"),
        (12, "time.perf_counter_ns()"),
    ]
    rows = [
        Row(samples[step].id, f"[ANSWER]{source}[/ANSWER]", json.dumps(samples[step].data))
        for step, source in answers
    ]
    rows.append(Row(samples[6].id, "I do not know.", json.dumps(samples[6].data)))
    found = by_running(rows, confinement=Confinement.TRUSTED)
    scores = [found[row.id, row.completion].score for row in rows]
    assert scores == [1, 1, 0, 1, 1, 0, 1, None, 0], found
    assert found[rows[2].id, rows[2].completion].reason.startswith("variable total")
    assert "two runs of the true cell differ" in found[rows[7].id, rows[7].completion].reason


# -- through Inspect -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three notebooks that differ in their numbers."""
    folder = tmp_path_factory.mktemp("notebooks")
    rng = random.Random(1)
    for number in range(3):
        cells = [
            (cell[0], cell[1].replace("[1, 2, 3]", str([rng.randrange(100) for _ in range(4)])))
            for cell in ANALYSIS
            if cell is not None
        ]
        run(folder, f"n{number}", cells)
    return folder


def asked(notebooks: Path, out: Path, *models: str) -> Any:
    """What `deskcheck ask --json` prints of both questions in three views; without the folder's name."""
    pytest.importorskip(
        "inspect_ai", reason="no deskcheck[ask]: would show that models are asked about notebooks"
    )
    arguments = ["ask", str(notebooks), "--question", "cell_output,next_cell", "--state", "none,used,full"]
    named = [part for model in models for part in ("-m", model)]
    done = CliRunner().invoke(app, [*arguments, *named, "--json", "--out", str(out)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout.replace(str(out), ""))


@pytest.mark.slow
def test_asking_ends_in_the_table(notebooks: Path, tmp_path: Path) -> None:
    """The oracle has 1 everywhere; seeing the state helps the guess, by as much as counted by hand, and the rows
    say what went in. Asked again, alone, the guess has the same scores and effects."""
    models = ["deskcheck/oracle,deskcheck/guess", "deskcheck/copy", "deskcheck/empty"]
    found = asked(notebooks, tmp_path / "0", *models)
    again = asked(notebooks, tmp_path / "1", "deskcheck/guess")
    for what in ("results", "effects"):
        assert [each for each in found[what] if each["model"] == "deskcheck/guess"] == again[what]
        assert again[what]
    scores = {
        (r["question"], r["state"], r["model"].removeprefix("deskcheck/")): r["metrics"]
        for r in found["results"]
    }
    assert len(scores) == 2 * 3 * 4
    for (question, _, model), metrics in scores.items():
        assert set(metrics) == set(METRICS[question])
        if model in ("oracle", "empty"):
            assert {m["value"] for m in metrics.values()} == {float(model == "oracle")}
        assert all(m["clusters"] == 3 for m in metrics.values())
    effect = next(
        e
        for e in found["effects"]
        if (e["model"], e["state"], e["metric"]) == ("deskcheck/guess", "used", "by_value")
    )
    assert (effect["n"], effect["difference"], effect["better"], effect["worse"]) == (18, 0.5, 9, 0)
    assert effect["sign_flip"] == 2 / 2**3
    assert effect["mcnemar"] == 2 / 2**9
    pq = pytest.importorskip("pyarrow.parquet")
    rows = pq.read_table(tmp_path / "0" / "samples.parquet").to_pylist()
    assert len(rows) == (18 + 21) * 3 * 4
    row = next(r for r in rows if r["state"] == "used" and r["question"] == "cell_output")
    assert json.loads(row["data"])["state"]["variables"]
    assert row["by_value"] == 1
    assert len(json.loads((tmp_path / "0" / "effects.json").read_text())) == len(found["effects"])


@pytest.mark.slow
def test_the_table_as_text_and_other_recordings_beside(notebooks: Path, tmp_path: Path) -> None:
    """A folder with recordings of programs too: each question is asked of what it is about."""
    pytest.importorskip("inspect_ai", reason="no deskcheck[ask]: would show the table")
    program = tmp_path / "p.py"
    program.write_text("def f(n):\n    return n * 2\n")
    runs = tmp_path / "runs"
    command = ["record", f"{program}::f", "(4,)", "--out", str(runs), "--sandbox", "trusted"]
    assert CliRunner().invoke(app, command).exit_code == 0
    (runs / "n0.trajectory.parquet").write_bytes((notebooks / "n0.trajectory.parquet").read_bytes())
    done = CliRunner().invoke(
        app,
        [
            *("ask", str(runs), "-q", "output,cell_output", "--state", "none,full", "-m", "deskcheck/guess"),
            *("--out", str(tmp_path / "out")),
        ],
        catch_exceptions=False,
    )
    assert done.exit_code == 0, done.output
    for text in (
        "by_value",
        "with the state minus none",
        "p McNemar",
        "not asked for cell_output: 5 fewer than 5",
    ):
        assert text in done.output
    assert effects(ask([runs], ["output"], ["deskcheck/oracle"], out=tmp_path / "again")) == []


@pytest.mark.slow
def test_the_tasks_of_inspect(notebooks: Path, tmp_path: Path) -> None:
    """`deskcheck/cell_output` and `deskcheck/next_cell` are tasks as the others are."""
    inspect_ai = pytest.importorskip("inspect_ai", reason="no deskcheck[ask]: would show the tasks")
    from deskcheck.ask.inspect.tasks import cell_output, next_cell

    logs = inspect_ai.eval(
        [cell_output(path=str(notebooks), state="used"), next_cell(path=str(notebooks))],
        model="deskcheck/oracle",
        log_dir=str(tmp_path),
        display="none",
    )
    assert [log.status for log in logs] == ["success", "success"]
    assert [log.results.scores[0].metrics["mean"].value for log in logs] == [1.0, 1.0]
    with pytest.raises(InputError, match="-T path=FOLDER"):
        cell_output()
