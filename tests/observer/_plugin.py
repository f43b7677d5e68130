"""A plugin of pytest that `suites.py` loads: writes outcomes down, with the tracer on or off."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from _child import Watch  # type: ignore[import-not-found]  # this folder is on that process's path


class Plugin:
    def __init__(self, request: dict[str, Any], result: str) -> None:
        self.out = open(result, "w")  # noqa: SIM115 (open for as long as the session is)
        scope = {file: Path(file).name for file in request["files"]}
        modules = {Path(file).stem for file in request["files"]}
        for root in request["path"]:
            for file in request["files"]:
                if Path(file).is_relative_to(root):
                    parts = Path(file).relative_to(root).with_suffix("").parts
                    modules.add(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
        self.watch = Watch(request["how"], scope, modules, request["events"])

    def say(self, **what: Any) -> None:
        self.out.write(json.dumps(what) + "\n")
        self.out.flush()

    def pytest_sessionstart(self) -> None:
        self.watch.begin("run")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        self.say(begun=item.nodeid)
        self.watch.begin("test")
        try:
            return (yield)
        finally:
            self.watch.end("test")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.outcome != "passed":
            self.say(id=report.nodeid, outcome=f"collect {report.outcome}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            expected = " expected" if hasattr(report, "wasxfail") else ""
            self.say(id=report.nodeid, outcome=f"{report.when} {report.outcome}{expected}")
            if report.outcome == "failed":
                self.say(detail=report.nodeid, text=report.longreprtext[-3000:])

    def pytest_sessionfinish(self) -> None:
        self.watch.end("run")
        self.say(end=True, **self.watch.summary())


def pytest_configure(config: pytest.Config) -> None:
    request = json.loads(Path(os.environ["OBSERVER_REQUEST"]).read_text())
    config.pluginmanager.register(Plugin(request, os.environ["OBSERVER_RESULT"]), "observer")
