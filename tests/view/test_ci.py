"""The check of notebooks as GitHub and readers of JUnit see it, run as the action and the hook run it.

A runner's own rules (what is a command, how it is unescaped, when commands are stopped) are written here anew, from
the sources of actions/runner 2.3xx (`ActionCommand.TryParseV2`, `ActionCommandManager.TryProcessCommand`).
"""

import html
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from deskcheck.notebook.check.check import CellReport, CellStatus, NotebookReport, NotebookStatus, Report
from deskcheck.view.ci.cases import CaseOutcome, cases, outcome_of
from deskcheck.view.ci.github import SUMMARY_BYTES, annotations, summary
from deskcheck.view.ci.junit import junit_xml
from tests.command import deskcheck
from tests.notebook.books import cell, printed, save
from tests.test_tools import tool

ROOT = Path(__file__).parents[2]
HOSTILE = "%0A\n::error file=x::pwn\n  ::add-mask::a\n##[error]b</pre><b>|`*_[l](http://a.b)\x1b[31m\x00"
needs_kernels = pytest.mark.skipif(
    find_spec("ipykernel") is None, reason="no ipykernel: would have proved what GitHub is told of real runs"
)


# -- a runner ----------------------------------------------------------------------------------------


def commands(printed_: str) -> list[tuple[str, dict[str, str], str]]:
    """Name, properties and message of the commands that a runner carries out."""
    found: list[tuple[str, dict[str, str], str]] = []
    token: str | None = None
    for line in printed_.split("\n"):
        text = line.lstrip()
        if token is not None:
            token = None if text.rstrip() == f"::{token}::" else token
            continue
        if "##[" in line and not text.startswith("::"):
            found.append(("old", {}, line))
            continue
        if not text.startswith("::") or "::" not in text[2:]:
            continue
        head, _, message = text[2:].partition("::")
        name, _, given = head.partition(" ")
        pairs = dict(pair.partition("=")[::2] for pair in given.split(",") if pair)
        for sign, code in ((":", "%3A"), (",", "%2C"), ("\n", "%0A"), ("\r", "%0D"), ("%", "%25")):
            pairs = {key: value.replace(code, sign) for key, value in pairs.items()}
            message = message if sign in ":," else message.replace(code, sign)
        if name == "stop-commands":
            token = message
        else:
            found.append((name, pairs, message))
    return found


class Tags(HTMLParser):
    """The elements of HTML, and the text outside of tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def report(*notebooks: NotebookReport) -> Report:
    return Report((), 3, [*notebooks])


def of_cell(status: str, **more: Any) -> CellReport:
    return CellReport(id="a", number=2, source="x", status=CellStatus(status), **more)


EVERY = [status.value for status in CellStatus]


# -- outcomes ----------------------------------------------------------------------------------------


def test_every_status_has_an_outcome() -> None:
    """By hand: what is accepted is never a failure, what says nothing of the notebook never a plain one."""
    default = {"different", "not_repeatable", "confined", "failed", "timed_out", "unreadable", "no_kernel"}
    rows = {status: outcome_of(status, default).value for status in [*EVERY, "unreadable", "no_kernel"]}
    assert rows == {
        "same": "passed",
        "normalised": "passed",
        "no_stored_output": "passed",
        "different": "failed",
        "not_repeatable": "failed",
        "failed": "failed",
        "timed_out": "failed",
        "unreadable": "failed",
        "confined": "error",
        "no_kernel": "error",
        "not_run": "skipped",
    }
    none = {outcome_of(status, set()) for status in default}
    assert none == {CaseOutcome.ACCEPTED}


def test_a_notebook_whose_time_was_up_between_cells_is_told_of() -> None:
    late = NotebookReport(
        path="a", status=NotebookStatus.TIMED_OUT, detail="long", cells=(of_cell("not_run"),)
    )
    assert [(c.name, c.outcome.value) for c in cases(late, {"timed_out"})] == [
        ("notebook", "failed"),
        ("cell-2", "skipped"),
    ]


# -- JUnit -------------------------------------------------------------------------------------------


def test_junit_counts_what_it_lists() -> None:
    """Sums of suites and of all; elements and attributes are those of Jenkins' schema; any text can be read back."""
    books = [
        NotebookReport(
            path=f"n{number}{HOSTILE}\ud800.ipynb",
            status=NotebookStatus.DIFFERENT,
            cells=tuple(of_cell(status, difference=HOSTILE + "\ud800\ufffe") for status in EVERY),
            seconds=1.5,
        )
        for number in range(2)
    ]
    top = ET.fromstring(junit_xml(report(*books), {"different", "failed", "confined"}))
    assert (top.tag, [*top.attrib]) == (
        "testsuites",
        ["name", "tests", "failures", "errors", "skipped", "time"],
    )
    for level in (top, *top):
        listed = {
            name: len(level.findall(f".//{name}")) for name in ("testcase", "failure", "error", "skipped")
        }
        said = [int(level.attrib[name]) for name in ("tests", "failures", "errors", "skipped")]
        assert [*listed.values()] == said
    assert [int(suite.attrib["tests"]) for suite in top] == [len(EVERY)] * 2
    assert {len(case) for case in top.iter("testcase")} == {0, 1}
    assert {key for case in top.iter("testcase") for key in case.attrib} == {"classname", "name", "time"}
    different = next(e for e in top.iter("failure") if e.attrib["type"] == "different")
    assert "::error file=x::pwn" in str(different.text)
    assert "\\x00" in different.attrib["message"]
    assert "\\ud800\\ufffe" in different.attrib["message"]
    assert top.attrib["time"] == "3.000"


# -- GitHub ------------------------------------------------------------------------------------------


def test_annotations_say_one_thing_each() -> None:
    """A runner reads back one command for each cell that is not the same, with the text as it was."""
    name = f"dir/a,b:c{HOSTILE.replace('/', '')}.ipynb"
    book = NotebookReport(
        path=name,
        status=NotebookStatus.FAILED,
        cells=tuple(of_cell(status, difference=HOSTILE) for status in EVERY),
    )
    told = [*annotations(report(book), {"different"}, workspace=Path(), lines_of=lambda path: (7, 9))]
    assert all("\n" not in line for line in told)
    found = commands("\n".join(told))
    accepted = {"not_repeatable", "confined", "failed", "timed_out"}
    assert [level for level, _, _ in found] == ["error"] + ["warning"] * len(accepted)
    assert {(given["file"], given["line"]) for _, given, _ in found} == {(name, "9")}
    assert all(
        message.startswith(("different: %0A\n", *accepted, "not repeatable", "timed out"))
        for _, _, message in found
    )
    assert {key for _, given, _ in found for key in given} == {"file", "line", "title"}


def test_a_summary_cannot_be_written_into() -> None:
    """Its elements are ours alone, a row is a row, and it stays below GitHub's bound."""
    book = NotebookReport(
        path=f"a{HOSTILE}.ipynb",
        status=NotebookStatus.DIFFERENT,
        cells=(of_cell("different", difference=HOSTILE),),
    )
    text = summary(report(book), {"different"})
    page = Tags(text)
    assert page.tags == ["details", "summary", "pre"]
    assert "</pre><b>|`*_[l](http://a.b)" in page.text
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == 3
    assert {line.count("|") for line in table} == {table[0].count("|")}
    shown = table[2].split(" | ")[1]
    assert not re.search(r"[\\`*_\[\]()<>:]", shown)
    assert "</pre><b>|`*_[l](http://a.b)" in html.unescape(shown)
    large = summary(report(*[book] * 8000), {"different"})
    assert SUMMARY_BYTES * 0.9 < len(large.encode()) < SUMMARY_BYTES
    assert "left out" in large[-200:]


@needs_kernels
def test_the_action_tells_github(tmp_path: Path) -> None:
    """Its script, with the variables that a runner sets: annotations at the lines of the cells, a summary, JUnit, 1."""
    save(tmp_path / "good.ipynb", cell("print(1)", printed("1\n")))
    bad = f"b,a:d {HOSTILE[:40]}".replace("/", "") + ".ipynb"
    shown = "%\n::error::pwn\n##[error]"
    save(tmp_path / bad, cell(f"print({shown!r} + 'new')", printed(f"{shown}old\n")))
    (tmp_path / "deskcheck.py").write_text("raise SystemExit('a module of the checkout was taken for ours')")
    inputs = {
        "DESKCHECK_PATHS": f"good.ipynb\n\n  {tmp_path}  \n",
        "DESKCHECK_OPTIONS": "--runs 1 --details --without 'white space'",
        "DESKCHECK_JUNIT": "junit $(touch pwned).xml",
        "DESKCHECK_HTML": "",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_WORKSPACE": str(tmp_path),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    script = [sys.executable, "-P", str(ROOT / "tools" / "github-action")]
    ran = subprocess.run(
        script, cwd=tmp_path, env=os.environ | inputs, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (1, "")
    ((level, given, message),) = commands(ran.stdout)
    lines = (tmp_path / bad).read_text()
    line = lines[: lines.index("print(")].count("\n") + 1
    assert (level, given["file"], given["line"]) == ("error", bad, str(line))
    assert message.endswith(
        "  ##[error]\n- old\n+ new".replace("  ##[error]\n- ", "- ##[error]").replace("\n+ ", "\n+ ##[error]")
    )
    assert "::error::pwn" in ran.stdout  # the log shows it, between stop-commands and the token
    assert "1 of 2 reproduce" in (tmp_path / "summary.md").read_text()
    top = ET.parse(tmp_path / "junit $(touch pwned).xml").getroot()
    assert (top.attrib["tests"], top.attrib["failures"]) == ("2", "1")
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"DESKCHECK_PATHS": "--version"}, "--version: no such file or folder"),
        ({"DESKCHECK_OPTIONS": "--fail-on sometimes"}, "--fail-on sometimes: unknown. The statuses are"),
        ({"DESKCHECK_JUNIT": "none/junit.xml"}, "none/junit.xml: cannot be written: "),
    ],
)
def test_a_wrong_call_of_the_action_is_2(inputs: dict[str, str], said: str, tmp_path: Path) -> None:
    save(tmp_path / "a.ipynb")
    words = tool("github-action").command(inputs)
    assert words[:4] == [sys.executable, "-P", "-m", "deskcheck"]
    ran = deskcheck(*words[4:], cwd=tmp_path)
    assert ran.returncode == 2
    assert said in ran.stderr
    assert commands(ran.stdout) == []


def test_quotes_that_are_not_closed_are_2() -> None:
    script = [sys.executable, str(ROOT / "tools" / "github-action")]
    env = os.environ | {"DESKCHECK_OPTIONS": "'"}
    ran = subprocess.run(script, env=env, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "the input 'options' cannot be read: No closing quotation" in ran.stderr


# -- the files that GitHub and pre-commit read ---------------------------------------------------------


def test_the_action_hands_its_inputs_over_as_variables() -> None:
    """No expression stands in the text of a command; every input is used; the script is there and can be run."""
    yaml = pytest.importorskip(
        "yaml", reason="no PyYAML: would have proved that action.yml is as GitHub reads it"
    )
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert action["runs"]["using"] == "composite"
    steps = action["runs"]["steps"]
    assert all("${{" not in step["run"] and step["shell"] == "bash" for step in steps)
    passed = json.dumps(steps)
    assert [name for name in action["inputs"] if f"inputs.{name}" not in passed] == []
    variables = {name for step in steps for name in step.get("env", {})}
    script = ROOT / "tools" / "github-action"
    assert variables == set(re.findall(r"DESKCHECK_\w+", script.read_text()))
    assert os.access(script, os.X_OK)
    assert "$GITHUB_ACTION_PATH/tools/github-action" in steps[-1]["run"]


@needs_kernels
def test_the_hook_refuses_a_commit(tmp_path: Path) -> None:
    """The entry of .pre-commit-hooks.yaml, with file names behind it, as pre-commit gives it."""
    yaml = pytest.importorskip("yaml", reason="no PyYAML: would have proved that pre-commit's hook runs")
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert {"id", "name", "entry", "language"} <= set(hook)
    assert (hook["id"], hook["types"], hook["language"]) == ("deskcheck-notebooks", ["jupyter"], "system")
    save(tmp_path / "good one.ipynb", cell("print(1)", printed("1\n")))
    save(tmp_path / "bad.ipynb", cell("print(1)", printed("2\n")))
    program, *words = hook["entry"].split()
    assert program == "deskcheck"
    ran = deskcheck(*words, "good one.ipynb", "bad.ipynb", cwd=tmp_path)
    assert ran.returncode == 1
    assert "- 2" in ran.stdout
    assert "1 of 2 notebooks reproduce" in ran.stdout
