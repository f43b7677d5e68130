"""``pytest --deskcheck-notebooks``: each notebook is a file of tests, and each of its code cells a test.

A notebook runs once, like with `deskcheck notebooks check`, when the first of its tests runs. A script with
``# %%`` cells is a notebook if it is named on the command line and is not a file of tests. Under
pytest-xdist, every process runs the notebooks whose tests it gets.
"""

import hashlib
import os
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from deskcheck.cli.app import app
from deskcheck.cli.common.configuration import configuration
from deskcheck.cli.notebooks import check_options
from deskcheck.errors import DeskcheckError, InputError
from deskcheck.notebook.check.check import NotebookReport, check_notebooks
from deskcheck.notebook.kernel.replayer import refusal_of
from deskcheck.notebook.settings import CheckSettings
from deskcheck.notebook.trajectory.ipynb import LEFT_OUT, read_notebook
from deskcheck.notebook.trajectory.lines import cell_lines
from deskcheck.notebook.trajectory.markers import Marker, markers_of
from deskcheck.notebook.trajectory.percent import is_script
from deskcheck.view.ci.cases import WHOLE, Case, CaseOutcome, case_name, cases

FAIL_ON = frozenset(
    "different not_repeatable confined failed timed_out unreadable no_kernel harness_error".split()
)
"""Statuses that fail without ``--fail-on``."""
_WORDS = {"no_stored_output": "nothing stored", "normalised": "normalised"}


def register(config: pytest.Config) -> None:
    """Register the hooks. Raises pytest.UsageError: the check does not take an option."""
    arguments = [*config.getini("deskcheck_notebooks_options"), *_split(config)]
    try:
        group = typer.main.get_command(app)
        defaults = configuration(group, typer.Context(group), config.rootpath)
        settings, failing = check_options(arguments, defaults.get("notebooks", {}).get("check", {}))
    except DeskcheckError as error:
        raise pytest.UsageError(f"--deskcheck-notebooks: {error}") from None
    config.pluginmanager.register(Notebooks(settings, failing), "deskcheck-notebooks")


def _split(config: pytest.Config) -> list[str]:
    texts: Iterable[str] = config.option.deskcheck_notebooks_options
    try:
        return [part for text in texts for part in shlex.split(text)]
    except ValueError as error:
        raise pytest.UsageError(f"--deskcheck-notebooks-options: {error}") from None


class Notebooks:
    """The hooks for notebooks. failing: statuses that fail a test. None: `FAIL_ON`."""

    def __init__(self, settings: CheckSettings, failing: Iterable[str] | None) -> None:
        self.settings = settings
        self.failing = FAIL_ON if failing is None else frozenset(failing)

    def pytest_report_header(self) -> str:
        where = f"at sandbox={self.settings.sandbox.value}"
        if self.settings.kernel is not None:
            where = f"in the installed kernel {self.settings.kernel!r}, without a sandbox"
        return f"deskcheck: notebooks run {where}, up to {self.settings.runs} times"

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> "NotebookFile | None":
        if file_path.suffix != ".ipynb":
            return None
        if not parent.session.isinitpath(file_path) and {*LEFT_OUT} & {*file_path.parts}:
            return None
        notebook: NotebookFile = NotebookFile.from_parent(parent, path=file_path)
        notebook.check = self
        return notebook

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makemodule(
        self, module_path: Path, parent: pytest.Collector
    ) -> "NotebookFile | None":
        """The notebook of a script. pytest calls this for Python files with tests or on its command line."""
        patterns = parent.config.getini("python_files")
        if any(module_path.match(pattern) for pattern in patterns) or not is_script(module_path):
            return None
        if not parent.session.isinitpath(module_path):
            return None
        notebook: NotebookFile = NotebookFile.from_parent(parent, path=module_path)
        notebook.check = self
        return notebook

    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, str] | None:
        if report.when != "call" or not report.passed:
            return None
        status = dict(report.user_properties).get("deskcheck_status")
        return ("passed", ".", f"PASSED ({_WORDS[status]})") if status in _WORDS else None


class NotebookFile(pytest.File):
    """A notebook as a file of tests. check: the hooks that made it."""

    check: Notebooks

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._result: NotebookReport | DeskcheckError | None = None
        if self.config.pluginmanager.hasplugin("xdist"):
            # No name: with `--dist loadgroup` it becomes part of each test's, where a bracket would mislead.
            name = hashlib.blake2b(self.nodeid.encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()
            self.add_marker(pytest.mark.xdist_group(name=name))

    def collect(self) -> Iterator["CellItem"]:
        try:
            stored = read_notebook(self.path, order=self.check.settings.order)
        except InputError:
            yield CellItem.from_parent(self, name=WHOLE)
            return
        except DeskcheckError as error:
            raise self.CollectError(str(error)) from None
        if self.check.settings.kernel is None and refusal_of(stored) is not None:
            yield CellItem.from_parent(self, name=WHOLE)
            return
        lines = cell_lines(self.path)
        for number, cell in enumerate(stored.cells, start=1):
            if cell.type == "code" and cell.source.strip():
                item: CellItem = CellItem.from_parent(self, name=case_name(number))
                item.line = lines[number - 1] if number <= len(lines) else 1
                item.marked_skip = Marker.SKIP in markers_of(cell)
                item.extra_keyword_matches.update(cell.tags)
                yield item

    def case(self, name: str) -> Case:
        """The result of one cell. Runs the notebook if necessary. Raises DeskcheckError."""
        if self._result is None:
            try:
                (self._result,) = check_notebooks([self.path], self.check.settings).notebooks
            except DeskcheckError as error:
                self._result = error
        if isinstance(self._result, DeskcheckError):
            raise self._result
        cases_by_name = {case.name: case for case in cases(self._result, self.check.failing)}
        if name in cases_by_name and not (cases_by_name[name].status == "not_run" and WHOLE in cases_by_name):
            return cases_by_name[name]
        if WHOLE in cases_by_name:  # it could not be checked, or its time was up between two cells
            return cases_by_name[WHOLE]
        raise InputError(f"{self.path}: {name} is gone: the file was changed while the tests ran.")


class CellFailed(Exception):
    """A cell differs from its stored output."""


class CellItem(pytest.Item):
    """A code cell, or a notebook that cannot run. line: line of the file at which its source begins."""

    line = 1
    marked_skip = False
    _case: Case

    def setup(self) -> None:
        if self.marked_skip:
            self._skip("its tag or comment says so")
        assert isinstance(self.parent, NotebookFile)
        try:
            case = self._case = self.parent.case(self.name)
        except DeskcheckError as error:
            pytest.fail(f"the notebook could not be checked: {error}", pytrace=False)
        self.user_properties.append(("deskcheck_status", case.status))
        if case.note is not None:
            self.user_properties.append(("deskcheck_note", case.note))
        if case.outcome is CaseOutcome.SKIPPED:
            self._skip(case.message)
        if case.outcome is CaseOutcome.ACCEPTED:
            pytest.xfail(case.message)
        if case.outcome is CaseOutcome.ERROR:
            pytest.fail(self._message(case), pytrace=False)

    def _skip(self, reason: str) -> None:
        skipped = pytest.skip.Exception(reason)
        skipped._use_item_location = True  # what pytest does for its own mark: the cell's line, not this one
        raise skipped

    def runtest(self) -> None:
        if self._case.outcome is CaseOutcome.FAILED:
            raise CellFailed(self._message(self._case))

    def _message(self, case: Case) -> str:
        file = os.path.relpath(self.path, self.config.invocation_params.dir)
        return f"{case.text()}\n\n{file}:{self.line}: {self.name}"

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, CellFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.line - 1, self.name
