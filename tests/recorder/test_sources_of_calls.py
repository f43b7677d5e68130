"""Calls of functions in files: no main part runs, and a file that cannot be read costs only itself."""

from pathlib import Path

import pytest

from deskcheck.errors import InputError
from deskcheck.recorder.record import record
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.reader import Recordings

FILE = """\
import pickle
class Point:
    def __init__(self, x):
        self.x = x
def f(x):
    print("called", __name__)
    return pickle.loads(pickle.dumps(Point(x))).x
if __name__ == "__main__":
    print(f(3))
"""


def test_the_main_part_of_a_file_does_not_run(tmp_path: Path) -> None:
    """The output is the call's. The module is the one of an import, so its classes can be pickled."""
    (tmp_path / "shapes.py").write_text(FILE)
    record(f"{tmp_path}/shapes.py::f", "(5,)", out=tmp_path / "runs")
    (recording,) = Recordings(tmp_path / "runs")
    assert recording.run_result.stdout == "called shapes\n"
    assert recording.run_result.result == "5"
    assert recording.repeatable is True
    assert any(event.locals.get("self") is not None for event in recording.trace)
    shown = [str(value) for event in recording.trace for value in event.locals.values()]
    assert any("Point#" in text and "x=5" in text for text in shown)


def test_a_file_that_does_not_parse_costs_only_itself(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text("def f():\n    return 1\n")
    (tmp_path / "bad.py").write_text("def f(:\n")
    done = record(
        f"{tmp_path}/bad.py::f",
        "()",
        f"{tmp_path}/good.py::f",
        "()",
        f"{tmp_path}/bad.py",
        out=tmp_path / "runs",
    )
    (recording,) = Recordings(tmp_path / "runs")
    assert recording.outcome is Outcome.RETURNED
    assert done.unusable.keys() == {f"{tmp_path}/bad.py::f", f"{tmp_path}/bad.py"}
    assert all("does not parse" in why for why in done.unusable.values())
    assert done.to_dict()["unusable"] == done.unusable
    with pytest.raises(InputError, match="does not parse"):
        record(f"{tmp_path}/bad.py::f", "()", out=tmp_path / "none")
