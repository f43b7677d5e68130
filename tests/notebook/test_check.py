"""Do notebooks reproduce: every status of cells and notebooks, from real runs, and the report in its three forms."""

import io
import json
import os
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from typer.testing import CliRunner

from deskcheck.cli import app
from deskcheck.errors import RecordingError
from deskcheck.notebook.check.check import (
    CellReport,
    CellStatus,
    NotebookReport,
    NotebookStatus,
    Report,
    check_notebooks,
    compare_with_stored,
)
from deskcheck.notebook.check.diff import diff
from deskcheck.notebook.kernel.repeats import Text
from deskcheck.notebook.settings import CheckSettings, ReplayLimits
from deskcheck.notebook.trajectory.ipynb import read_notebook
from deskcheck.notebook.trajectory.trajectory import Output, Status
from deskcheck.view.notebooks import notebooks_table
from deskcheck.view.notebooks_page import notebooks_facts, notebooks_page
from tests.notebook.books import cell, checked, printed, raised, save, shown, statuses

SHARED = Path(os.environ.get("DESKCHECK_SHARED", Path(__file__).parents[3] / "shared")) / "data" / "notebooks"


CASES: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    (cell("import os, random\nprint('a')", printed("a\n")), "same", {}),
    (cell("object()", shown("<object at 0x7f00000001>")), "normalised", {"normalisers": ("address",)}),
    (cell("1 + 1", shown("3")), "different", {"difference": "text/plain: '3' and '2' at character 0"}),
    (cell("random.random()", shown("0.5")), "not_repeatable", {}),
    (
        cell("import not_there_at_all\nlate = 1", count=None),
        "failed",
        {"category": "ModuleNotFoundError", "missing": "not_there_at_all"},
    ),
    (cell("late", shown("1")), "failed", {"category": "NameError", "follows": 6}),
    (cell("open('gone.csv')"), "failed", {"category": "FileNotFoundError", "missing": "gone.csv"}),
    (cell("1 / 0", raised("ZeroDivisionError", "division by zero")), "same", {}),
    (cell("int('x')", raised("KeyError", "x")), "failed", {"category": "ValueError"}),
    (
        cell("{}[1]", raised("KeyError", "2")),
        "different",
        {"difference": "exception: KeyError: 2 and KeyError: 1"},
    ),
    (cell("2", raised("KeyError", "2")), "different", {}),
    (cell("x = 1", count=None), "no_stored_output", {}),
    (cell("print('now')", count=None), "no_stored_output", {}),
    (cell("print('now')", count=4), "different", {}),
    (cell("import sys; print('w', file=sys.stderr)", printed("v\n", "stderr")), "same", {}),
    (
        cell("'plot'", shown("'plot'", **{"image/png": "eA=="})),
        "different",
        {"difference": "images: 1 and 0"},
    ),
    (
        cell("%no_such_magic", shown("1")),
        "failed",
        {"category": "UsageError", "message": "Line magic function `%no_such_magic` not found."},
    ),
    (
        cell("%env NO_SUCH_VARIABLE", shown("1")),
        "failed",
        {"category": "UsageError", "message": "Environment does not have key: NO_SUCH_VARIABLE"},
    ),
    (cell("1 / 0", tags=("skip-execution",)), "not_run", {}),
    (cell("os._exit(3)"), "failed", {"category": "kernel died", "message": "exited: status 3"}),
    (cell("while True: pass", shown("1")), "timed_out", {"message": "more than 5 s"}),
    (cell("print('end')", printed("end\n")), "same", {}),
]


def test_a_display_that_a_later_cell_updates_is_compared_as_it_is_in_the_end(tmp_path: Path) -> None:
    """A front end changes it where it stands, so that is what is stored: in every place, and no other."""
    sources = ("h = display('one', display_id='a')", "h.display(); 1", "h.update('two')", "display('one')")
    stored = [shown("'two'"), shown("'two'"), None, shown("'one'")]
    kept = [cell(source, *([out] if out else [])) for source, out in zip(sources, stored, strict=True)]
    book = read_notebook(save(tmp_path / "n.ipynb", *kept))
    one, two = {"text/plain": "'one'"}, {"text/plain": "'two'"}
    fresh = [
        Output(type="display_data", data=one, display_id="a"),
        Output(type="display_data", data=one, display_id="a"),
        Output(type="update_display_data", data=two, display_id="a"),
        Output(type="display_data", data=one, display_id="b"),
    ]
    steps = [
        replace(step, outputs=(output,), status=Status.OK, count=number)
        for number, (step, output) in enumerate(zip(book.executions, fresh, strict=True), start=1)
    ]
    report = compare_with_stored(book, replace(book, steps=steps))
    assert statuses(report.cells) == ["same", "same", "no_stored_output", "same"]
    early = [steps[2], steps[0], steps[1], steps[3]]  # an update of what is not there yet
    report = compare_with_stored(book, replace(book, steps=early))
    assert statuses(report.cells[:2]) == ["different", "different"]


HTML = {"text/html": "<div id=plot1></div>"}


@pytest.mark.parametrize(
    ("stored", "fresh", "status", "difference"),
    [
        ([HTML], [HTML], "same", None),
        ([HTML], [{"text/html": "<div id=plot2></div>"}], "same", None),
        ([HTML], [], "different", "displays without text: 1 and 0"),
        ([HTML, HTML], [HTML], "different", "displays without text: 2 and 1"),
        ([HTML], [HTML, {"text/plain": "1"}], "different", "shown: 0 texts and 1"),
        ([{"image/png": "eA=="}], [HTML], "different", "images: 1 and 0"),
    ],
)
def test_what_is_not_compared_must_be_there(
    tmp_path: Path,
    stored: list[dict[str, str]],
    fresh: list[dict[str, str]],
    status: str,
    difference: str | None,
) -> None:
    """A figure in HTML alone that is not shown any more is no reproduction."""
    shows = [{"output_type": "display_data", "metadata": {}, "data": data} for data in stored]
    book = read_notebook(save(tmp_path / "n.ipynb", cell("plot()", *shows)))
    outputs = tuple(Output(type="display_data", data=dict(data)) for data in fresh)
    steps = [replace(step, outputs=outputs, status=Status.OK) for step in book.executions]
    (found,) = compare_with_stored(book, replace(book, steps=steps)).cells
    assert (found.status.value, found.difference) == (status, difference)


class TestRuns:
    @pytest.fixture(autouse=True)
    def kernels(self) -> None:
        pytest.importorskip("ipykernel", reason="would have proved that notebooks are run and compared")

    @pytest.mark.slow
    def test_every_status(self, tmp_path: Path) -> None:
        """Each cell gets the one that it deserves, with why; the report counts them all."""
        path = save(tmp_path / "all.ipynb", *(case for case, _, _ in CASES))
        report = check_notebooks([path], CheckSettings(limits=ReplayLimits(cell_s=5)))
        (notebook,) = report.notebooks
        found = {each.number: each for each in notebook.cells}
        assert {number: each.status.value for number, each in found.items()} == {
            number: status for number, (_, status, _) in enumerate(CASES, start=2)
        }
        for number, (_, _, facts) in enumerate(CASES, start=2):
            for name, value in facts.items():
                assert str(getattr(found[number], name)).startswith(str(value)), (number, name)
        assert found[5].unstable is not None
        assert (notebook.status, notebook.runs) == (NotebookStatus.TIMED_OUT, 2)
        assert sum(report.cells.values()) == len(CASES)
        assert report.missing_modules == {"not_there_at_all": 1}
        assert report.failures[0] == ("ModuleNotFoundError", 1, 1)
        assert report.fired == {"address": 1}
        assert [each["path"] for each in notebooks_facts(report)["notebooks"]] == ["all.ipynb"]
        json.dumps(report.to_dict())

    def test_nothing_to_compare_is_no_success(self, tmp_path: Path) -> None:
        """A notebook without stored outputs is counted apart from those that reproduce."""
        save(tmp_path / "a.ipynb", cell("print(1)", printed("1\n")))
        save(tmp_path / "b.ipynb", cell("print(1)", printed("2\n")))
        save(tmp_path / "c.ipynb", cell("x = 1", count=None))
        report = check_notebooks([tmp_path], CheckSettings(runs=1))
        assert "<title>1 of 2 notebooks reproduce</title>" in notebooks_page(report)
        console = Console(width=200, record=True, file=io.StringIO())
        console.print(notebooks_table(report, details=False))
        assert "1 of 2 notebooks reproduce; 1 had nothing to compare" in console.export_text()

    def test_python_2_is_named(self, tmp_path: Path) -> None:
        """Its statements are no mere SyntaxError."""
        path = save(tmp_path / "a.ipynb", cell("print 'x'"), cell("exec 'x = 1'"), cell("x ="))
        categories = [cell.category for cell in checked(path, runs=1).cells]
        assert categories == ["Python 2", "Python 2", "SyntaxError"]

    def test_one_run_says_nothing_of_repeating(self, tmp_path: Path) -> None:
        """What differs is different then; and where all is the same, one run is enough."""
        path = save(tmp_path / "a.ipynb", cell("import time; t = time.time(); time.time() - t", shown("5")))
        assert statuses(checked(path, runs=1).cells) == ["different"]
        path = save(tmp_path / "b.ipynb", cell("1", shown("1")))
        notebook = checked(path, runs=3)
        assert (notebook.status, notebook.runs) == (NotebookStatus.SAME, 1)

    def test_stripped_outputs_are_no_difference(self, tmp_path: Path) -> None:
        """A notebook without any output has nothing stored, whatever its counts say."""
        path = save(tmp_path / "a.ipynb", cell("print(1)", count=1), cell("2", count=2))
        assert checked(path).status is NotebookStatus.NO_STORED_OUTPUT

    def test_a_folder_from_the_command_line(self, tmp_path: Path) -> None:
        """A damaged file and another language are rows of their own; exit status, JSON and page."""
        folder = tmp_path / "in"
        (folder / "sub").mkdir(parents=True)
        (folder / "data.txt").write_text("17")
        save(folder / "sub" / "good.ipynb", cell("print(open('../data.txt').read())", printed("17\n")))
        save(folder / "r.ipynb", cell("1"), kernelspec={"name": "ir", "language": "R"})
        (folder / "cut.ipynb").write_text('{"nbformat": 4')
        page, data = tmp_path / "page.html", tmp_path / "report.json"
        command = ["notebooks", "check", str(folder), "--out", str(tmp_path / "runs")]
        done = CliRunner().invoke(app, [*command, "--html", str(page), "--json", str(data)])
        assert done.exit_code == 1, done.output
        assert "3 notebooks" in done.stdout
        report = json.loads(data.read_text())
        assert {Path(n["path"]).name: n["status"] for n in report["notebooks"]} == {
            "cut.ipynb": "unreadable",
            "r.ipynb": "no_kernel",
            "good.ipynb": "same",
        }
        assert "<title>1 of 3 notebooks reproduce</title>" in page.read_text()
        for fails, status in (("none", 0), ("same", 1), ("unreadable", 1), ("different,failed", 0)):
            assert CliRunner().invoke(app, [*command, "--fail-on", fails]).exit_code == status
        printed_json = CliRunner().invoke(app, [*command, "--json", "-"])
        assert json.loads(printed_json.stdout) == report

    def test_runs_that_are_kept_belong_to_their_notebook(self, tmp_path: Path) -> None:
        """They are used again; not for a notebook whose cells have changed since."""
        path = save(tmp_path / "a.ipynb", cell("1", shown("1")))
        for _ in range(2):
            assert check_notebooks([path], out=tmp_path / "runs").by_status == {"same": 1}
        save(path, cell("2", shown("2")))
        with pytest.raises(RecordingError, match="other source in cell 2"):
            check_notebooks([path], out=tmp_path / "runs")
        path.write_text(path.read_text().replace('"source": "2"', '"id": "other", "source": "1"'))
        with pytest.raises(RecordingError, match="different cells"):
            check_notebooks([path], out=tmp_path / "runs")

    @pytest.mark.slow
    def test_notebooks_of_nbval_end_as_their_names_say(self) -> None:
        """What is in nbval's own tests to pass is the same here, what is to fail is not."""
        folder = SHARED / "nbval" / "tests" / "ipynb-test-samples"
        if not folder.is_dir():
            pytest.skip(
                "no notebooks in DESKCHECK_SHARED or ../shared: would have proved that nbval's end so"
            )
        for notebook in check_notebooks([folder]).notebooks:
            if "-latex-" in notebook.path and not (find_spec("sympy") and find_spec("matplotlib")):
                continue  # its picture is drawn by both
            good = notebook.status in (NotebookStatus.SAME, NotebookStatus.NORMALISED)
            assert good == ("-pass-" in notebook.path and "ignoreoutput" not in notebook.path), notebook.path


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "no such file or folder"),
        (["."], "has no .ipynb files"),
        (["a.ipynb", "--fail-on", "bad"], "The statuses are unreadable, no_kernel"),
        (["a.ipynb", "--without", "bad"], "the normalisers are terminal codes"),
        (["a.ipynb", "--html", "no/page.html"], "no does not exist, or is not writable"),
    ],
)
def test_wrong_calls(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Are refused before anything runs, and the message says what would be right."""
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(app, ["notebooks", "check", *arguments])
    assert said in str(found.exception)


HOSTILE = "</pre><script>alert('x')</script>\x1b[1m & \ud800 '\""


def test_the_page_shows_hostile_text_as_text() -> None:
    """The page holds paths, sources and outputs as packed data, never as HTML."""

    rows = tuple(diff(Text(HOSTILE, (), None), Text("", (HOSTILE,), ("E", HOSTILE)), {"images": (0, 1)}))
    cells = tuple(
        CellReport(
            id="a",
            number=1,
            source=HOSTILE,
            status=status,
            category=HOSTILE,
            message=HOSTILE,
            diff=rows,
            missing=HOSTILE,
        )
        for status in CellStatus
    )
    notebooks = [
        NotebookReport(path=f"/x/{HOSTILE}", status=status, detail=HOSTILE, cells=cells, notes=(HOSTILE,))
        for status in NotebookStatus
    ]
    report = Report(("address",), 2, notebooks)
    assert "alert('x')" not in notebooks_page(report)
    assert {cell["source"] for cell in notebooks_facts(report)["notebooks"][0]["cells"]} == {HOSTILE}


@settings(deadline=None)  # the machine may be busy
@given(st.text("ab \n", max_size=60), st.text("ab \n", max_size=60))
def test_a_diff_gives_both_sides_back(one: str, other: str) -> None:
    """Lines that are only in one are marked so, those in both stand once; what is marked in a line differs."""
    rows = list(diff(Text(one, (), None), Text(other, (), None), {}))
    assert (rows == []) == (one == other)
    if rows and not any(row.text.startswith(("...", "the lines")) for row in rows if row.side == "@"):
        for side, text in (("-", one), ("+", other)):
            lines = [row.text for row in rows if row.side in (side, " ")]
            assert "\n".join(lines) in "\n".join(text.splitlines())
    for row in rows:
        if row.changed is not None:
            start, end = row.changed
            assert 0 <= start <= end <= len(row.text)


def test_what_a_diff_leaves_out_is_said() -> None:
    """Lines that are cut end in an ellipsis; lines that are left out are named."""
    rows = list(diff(Text("", (), None), Text("y" * 1000, (), None), {}))
    assert rows[-1].text == "y" * 239 + "…"
    same = ["x"] * 395 + ["z"] * 10
    rows = list(diff(Text("\n".join(["a", *same]), (), None), Text("\n".join(["b", *same]), (), None), {}))
    assert rows[-1].text == "... and more lines, which are not shown"
    long = CellReport(id="a", number=1, source="s" * 1000, status=CellStatus.FAILED, category="E")
    report = NotebookReport(path="/x/a.ipynb", status=NotebookStatus.FAILED, cells=(long,))
    (notebook,) = notebooks_facts(Report((), 1, [report]))["notebooks"]
    assert notebook["cells"][0]["source"] == "s" * 299 + "…"


def test_long_lines_are_shown_around_what_differs() -> None:
    """However long, a few hundred characters tell what it is."""
    one, other = ("[" + "0, " * 10_000 + f"{n}" + ", 0" * 10_000 + "]" for n in "12")
    rows = [row for row in diff(Text("", (one,), None), Text("", (other,), None), {}) if row.side in "-+"]
    assert [row.text[slice(*row.changed)] for row in rows if row.changed] == ["1", "2"]
    assert all(len(row.text) < 300 for row in rows)
