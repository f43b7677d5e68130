"""Sampled calls of a library, each under a tracer of its own, while tests run: started by `calls.py`.

python _sampled.py REQUEST.json RESULT
"""

import json
import random
import sys
import unittest
from pathlib import Path
from typing import Any

from deskcheck.sandbox.inside import calls as _calls
from deskcheck.tracer import ReferenceTracer, TraceLimits, tracer_class


class Sample:
    """Watches the calls of a test; what was recorded goes into a file, a call after the other."""

    def __init__(self, request: dict[str, Any], result: str) -> None:
        tracer_class()  # its modules are loaded in both runs: some libraries list what is loaded
        if request["tracer"] == "reference":
            setattr(_calls, "tracer_class", lambda: ReferenceTracer)  # noqa: B010 (it is not exported)
        _calls.CALL_S = 60.0
        self.out = open(result, "wb")  # noqa: SIM115 (open for as long as tests run)
        self.observer = _calls.Observer(
            _calls.Project(request["root"], request["packages"], ["test*.py"]),
            self.keep,
            _calls.Drawing(request["most"], request["budget"], request["seed"]),
            limits=TraceLimits(events=request["events"], objects=1000, items=200),
        )

    def keep(self, kind: str, facts: dict[str, Any], blocks: list[bytes]) -> None:
        if kind == "call":
            key = [facts[name] for name in ("test", "module", "function", "time")]
            head = json.dumps({"key": key, "sizes": [len(block) for block in blocks]}).encode()
            self.out.write(len(head).to_bytes(4, "little") + head + b"".join(blocks))

    def close(self) -> None:
        """The end is written too: a file without it is one of a process that was ended."""
        head = json.dumps({"end": True, "left out": self.observer.left_out}).encode()
        self.out.write(len(head).to_bytes(4, "little") + head)
        self.out.close()


class Watched(unittest.TestResult):
    def __init__(self, sample: Sample) -> None:
        super().__init__()
        self.sample = sample

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        random.seed(0)
        self.sample.observer.begin(test.id())

    def stopTest(self, test: unittest.TestCase) -> None:
        self.sample.observer.end()
        super().stopTest(test)


def main(request_file: str, result: str) -> None:
    request = json.loads(Path(request_file).read_text())
    from test import support  # type: ignore[import-not-found]

    support.use_resources = {}
    sample = Sample(request, result)
    try:
        unittest.defaultTestLoader.loadTestsFromName(request["module"]).run(Watched(sample))
    except unittest.SkipTest:
        pass
    sample.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
