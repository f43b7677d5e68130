"""Times, memory and the states of earlier cells in prompts; whether answers need them; the table of Themisto."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deskcheck.ask.questions.notebook_past import COMPUTED, IN_STATE, SHOWN, need
from deskcheck.cli import app
from deskcheck.errors import InputError
from deskcheck.notebook.settings import PAST_VIEWS
from deskcheck.notebook.state.views import estimate_tokens
from deskcheck.notebook.trajectory.trajectory import Output
from tests.ask.test_notebooks import ANALYSIS, Cells, run, samples_of, written

SUM: Cells = [
    *((str(n), f"v{n} = {n}") for n in range(5)),
    ("a", "rows = [40 + 2, 7]"),
    ("b", "rows"),
    ("c", "print('done', 40)"),
    ("d", "rows[0] * 10"),
    ("e", "rows.append(1)\nrows"),
]


def test_times_and_memory_of_the_cells_that_are_shown(tmp_path: Path) -> None:
    """A line for each cell of the history, oldest first; what was not measured is unknown."""
    shown = (Output(type="execute_result", data={"text/plain": "1"}),)
    facts = [{"wall_s": 0.25, "memory_before": 90_000_000, "memory_after": 100_000_000 + n} for n in range(5)]
    cells = [{"source": "x = 1", **fact} for fact in facts]
    path = written(tmp_path, *cells, {"source": "x = 2"}, {"source": "x", "outputs": shown}, state=None)
    made = samples_of(path, state=("none", "time", "memory"))
    ((time,), _), ((memory,), _) = made["time"], made["memory"]
    lines = [f"In [{n + 1}], cell {n}: 0.25 s" for n in range(5)]
    assert time.parts["state"].splitlines()[2:-1] == [*lines, "In [6], cell 5: unknown"]
    assert "In [1], cell 0: 100.0 MB, +10.0 MB by the cell\n" in memory.parts["state"]
    assert made["none"][0][0].id == time.id == memory.id


def test_the_state_after_each_earlier_cell(tmp_path: Path) -> None:
    """What each cell added or changed, with the value that it had then."""
    last = samples_of(run(tmp_path, "n", SUM), state=("none", "history"))["history"][0][-1]
    text = last.parts["state"]
    assert re.search(r"After In \[6\], cell a:\nrows: list = \[42, 7\]\nAfter", text)
    assert "After In [7], cell b:\n(nothing)\n" in text
    assert "rows: list, length 3" not in text
    assert last.data["state"]["kind"] == "history"


@pytest.mark.parametrize("state", PAST_VIEWS)
def test_within_the_budget_the_newest_cells(tmp_path: Path, state: str) -> None:
    path = run(tmp_path, "n", ANALYSIS)
    for budget in (0, 30, 60, 10_000):
        for sample in samples_of(path, state=("none", state), state_tokens=budget)[state][0]:
            account = sample.data["state"]
            assert account["tokens"] <= budget
            body = sample.parts["state"].partition("\n")[2]
            assert estimate_tokens(body) <= budget + 10
            assert account["left_out"] == 0 or budget < 10_000
            if account["tokens"]:
                newest = sample.data["history"]["cells"] + sample.data["history"]["left_out"]
                assert f"In [{newest}]" in body


def test_no_cell_later_than_the_target_or_out_of_the_history_is_shown(tmp_path: Path) -> None:
    for sample in samples_of(run(tmp_path, "n", ANALYSIS), state=("none", "history"), history_tokens=60)[
        "history"
    ][0]:
        cells = sample.parts["state"].count("After In [")
        assert cells == sample.data["history"]["cells"]


def test_whether_an_answer_needs_the_state(tmp_path: Path) -> None:
    """By hand: 42 stands nowhere but in the variable; 420 nowhere; what is printed stands in the source."""
    samples = samples_of(run(tmp_path, "n", SUM), state=("none", "used"))["none"][0]
    assert [(sample.answer, sample.data["need"]) for sample in samples] == [
        ("[42, 7]", IN_STATE),
        ("done 40", SHOWN),
        ("420", COMPUTED),
        ("[42, 7, 1]", SHOWN),  # the history has shown it by now
    ]
    assert need("[]", "", None) == SHOWN
    assert need("99", "9 9", None) == COMPUTED
    without = samples_of(run(tmp_path, "m", SUM), state=("none",))["none"][0]
    assert all("need" not in sample.data for sample in without)


def test_the_table(tmp_path: Path) -> None:
    """Means and effects are those that `ask` reports; the parts by need add up to all."""
    pytest.importorskip("inspect_ai", reason="no deskcheck[ask]: would show the table of Themisto")
    for number in range(6):
        cells = [(cell[0], cell[1].replace("40", str(40 + number))) for cell in SUM if cell is not None]
        run(tmp_path, f"n{number}", cells)
    out = tmp_path / "answers"
    asked = [
        "ask",
        tmp_path,
        "-q",
        "cell_output",
        "--state",
        "none,used,history",
        "-m",
        "deskcheck/guess",
        "--out",
        out,
    ]
    made = CliRunner().invoke(app, [*map(str, asked), "--json"], catch_exceptions=False)
    effects = {(e["state"], e["metric"]): e for e in json.loads(made.stdout)["effects"]}
    shown = (
        CliRunner().invoke(app, ["report", str(out), "--table", "themisto"], catch_exceptions=False).stdout
    )
    first, second = shown.split("The effect by what the answers need")
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in first.splitlines() if "guess" in line
    ]
    assert [row[2] for row in rows] == ["used", "history"]
    for row in rows:
        assert row[3:5] == ["24", "6"]
        for place, metric in ((7, "exact"), (10, "rouge_l"), (13, "chrf")):
            effect = effects[row[2], metric]
            assert row[place].startswith(f"{effect['difference']:+.3f} (")
            assert f"({effect['low']:+.3f} to {effect['high']:+.3f})" in row[place]
            before, after = (float(row[place - 2 + n].split()[0]) for n in range(2))
            assert abs(after - before - effect["difference"]) < 0.0011
    parts = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in second.splitlines() if "guess" in line
    ]
    for state in ("used", "history"):
        assert {row[3]: int(row[4]) for row in parts if row[2] == state} == {
            SHOWN: 12,
            IN_STATE: 6,
            COMPUTED: 6,
        }


def test_a_table_of_answers_without_views_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai", reason="no deskcheck[ask]: would show that the table needs views")
    run(tmp_path, "n", SUM)
    out = tmp_path / "answers"
    asked = ["ask", tmp_path, "-q", "cell_output", "-m", "deskcheck/guess", "--out", out]
    assert CliRunner().invoke(app, [*map(str, asked)], catch_exceptions=False).exit_code == 0
    with pytest.raises(InputError, match="Ask with --state none,used"):
        CliRunner().invoke(app, ["report", str(out), "--table", "themisto"], catch_exceptions=False)
