"""One run of a test module, with or without the tracer: started by `suites.py`, in a process of its own.

    python _child.py REQUEST.json RESULT.jsonl

A line of the result is written as soon as it is known, so that a crash still tells where it was.
"""

import importlib.util
import json
import random
import sys
import traceback
import unittest
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from deskcheck.tracer import TraceLimits
from deskcheck.tracer.native import NativeTracer

Error = tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]


class Watch:
    """The tracer, on for the whole of a run or for every test anew; or off (`how` is "off")."""

    def __init__(self, how: str, scope: dict[str, str], modules: Iterable[str], events: int) -> None:
        self.how = how
        self.scope = scope
        self.modules = set(modules)
        self.limits = TraceLimits(events=events, objects=1000, items=200)
        self.blocks: list[int] = []
        self.cuts: dict[str, int] = {}
        self.failures: list[str] = []
        self.starts = 0
        self._tracer: NativeTracer | None = None

    def begin(self, how: str) -> None:
        if how == self.how:
            self._tracer = NativeTracer(
                self.scope,
                lambda block: self.blocks.append(len(block)),
                modules=self.modules,
                limits=self.limits,
            )
            self.starts += 1
            self._tracer.start()

    def end(self, how: str) -> None:
        tracer = self._tracer
        if how == self.how and tracer is not None:
            self._tracer = None
            tracer.stop()
            why = tracer.cut or ""
            self.cuts[why] = self.cuts.get(why, 0) + 1
            if tracer.failure is not None:
                self.failures.append("".join(traceback.format_exception(tracer.failure)))

    def summary(self) -> dict[str, Any]:
        return {
            "bytes": sum(self.blocks),
            "starts": self.starts,
            "cuts": self.cuts,
            "failures": self.failures,
        }


class Outcomes(unittest.TestResult):
    """Writes down what came of each test, subtests among them."""

    def __init__(self, out: TextIO, watch: Watch) -> None:
        super().__init__()
        self.out = out
        self.watch = watch

    def say(self, **what: Any) -> None:
        self.out.write(json.dumps(what) + "\n")
        self.out.flush()

    def outcome(self, test: unittest.TestCase, outcome: str, err: Error | None = None, why: str = "") -> None:
        self.say(id=test.id(), outcome=outcome)
        if err is not None:
            self.say(detail=test.id(), text=self._exc_info_to_string(err, test)[-3000:])  # type: ignore[attr-defined]

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.say(begun=test.id())
        random.seed(0)  # subtests are called by values, some of them drawn
        self.watch.begin("test")

    def stopTest(self, test: unittest.TestCase) -> None:
        self.watch.end("test")
        super().stopTest(test)

    def addSuccess(self, test: unittest.TestCase) -> None:
        self.outcome(test, "passed")

    def addFailure(self, test: unittest.TestCase, err: Error) -> None:
        self.outcome(test, "failed", err)

    def addError(self, test: unittest.TestCase, err: Error) -> None:
        self.outcome(test, f"error {err[0].__name__ if err[0] else ''}", err)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        self.outcome(test, f"skipped: {reason}")

    def addExpectedFailure(self, test: unittest.TestCase, err: Error) -> None:
        self.outcome(test, "failed as expected")

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        self.outcome(test, "passed unexpectedly")

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Error | None) -> None:
        if err is None:
            self.outcome(subtest, "passed")
        else:
            failed = err[0] is not None and issubclass(err[0], test.failureException)
            self.outcome(subtest, "failed" if failed else f"error {err[0].__name__ if err[0] else ''}", err)


def files_of(name: str) -> list[str]:
    """Where the code of a module lies, or that of a package's modules."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.has_location or spec.origin is None:
        return []
    if not spec.submodule_search_locations:
        return [spec.origin]
    return [
        str(path) for folder in spec.submodule_search_locations for path in sorted(Path(folder).glob("*.py"))
    ]


def main(request_file: str, result_file: str) -> None:
    request = json.loads(Path(request_file).read_text())
    from test import support  # type: ignore[import-not-found]

    support.use_resources = {} if sys.version_info >= (3, 15) else []
    names = [request["module"], *request["libraries"]]
    files = [file for name in names for file in files_of(name)]
    watch = Watch(request["how"], {file: Path(file).name for file in files}, names, request["events"])
    with open(result_file, "w") as out:
        result = Outcomes(out, watch)
        watch.begin("run")
        try:
            unittest.defaultTestLoader.loadTestsFromName(request["module"]).run(result)
        except unittest.SkipTest as skip:
            result.say(id=request["module"], outcome=f"skipped: {skip}")
        finally:
            watch.end("run")
        result.say(end=True, files=len(files), **watch.summary())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
