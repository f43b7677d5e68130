"""Attacks on trials: answers to "which cell comes next" that forge what is said of them, or attack who listens.

A cell shares its process with what looks at it (`notebook.trial`), so it can say whatever it likes. The caller
goes on and does not grow, the cell does not score, and the true cell scores after it.
"""

import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from deskcheck.notebook.trial.trial import TrialLimits, TrialPlace
from tests.notebook.trying import tried

pytest.importorskip("IPython", reason="would have proved that hostile cells are marked")

CELLS: dict[str, str] = tomllib.loads(Path(__file__).with_name("trials.toml").read_text("utf-8"))["cells"]
QUICK = ("a report that is deep", "a report of a million lists", "an output's id", "removed: lists", "variables",
         "unseen: infinity", "writes frames", "digests of files: deep")  # fmt: skip
_GROWN_KIB = 40_000


@pytest.fixture(scope="module")
def place() -> Iterator[TrialPlace]:
    with tried(
        "x = [1]",
        "x.append(2)\nprint(x)",
        "x",
        at=1,
        limits=TrialLimits(trial_s=4, memory_bytes=1 << 30),
    ) as found:
        yield found


def _filled() -> int:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))


def assert_marked(place: TrialPlace, names: Iterable[str]) -> None:
    for name in names:
        before = _begin_to_count()
        marked = place.score(CELLS[name])
        grown = _filled() - before
        assert marked.score == 0, f"{name}: {marked}"
        assert grown <= _GROWN_KIB, f"{name}: {grown} KiB"
        assert place.score("x += [2]\nprint([1, 2])").score == 1, name


def _begin_to_count() -> int:
    """KiB that this process fills; the most it fills is counted from here (proc(5), clear_refs)."""
    Path("/proc/self/clear_refs").write_text("5")
    return _filled()


def test_a_forged_report_is_no_error_of_ours(place: TrialPlace) -> None:
    assert_marked(place, QUICK)


@pytest.mark.exhaustive
def test_whatever_a_cell_says_or_does(place: TrialPlace) -> None:
    assert_marked(place, [name for name in CELLS if name not in QUICK])


def test_what_a_cell_may_say_is_taken(place: TrialPlace) -> None:
    """Of an honest one: numbers that are none in JSON, an id of a display that is a number."""
    shown = "from IPython.display import display\ndisplay({'application/json': {'a': float('nan')}}, raw=True, display_id=5)"
    trial = place.run(shown)
    assert trial.status == "ok", trial.detail
    assert trial.outputs[0].display_id == "5"
    assert str(trial.outputs[0].data["application/json"]["a"]) == "nan"
