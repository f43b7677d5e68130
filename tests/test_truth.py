"""Recordings of published sets are true: the results are the published ones, and states decide."""

import itertools
import os
from pathlib import Path

import pytest

from deskcheck.recorder.programs import record_programs
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording.reader import Recordings
from deskcheck.sources import programs
from deskcheck.sources.check import check
from tests.sample import spread

SHARED = Path(os.environ.get("DESKCHECK_SHARED", Path(__file__).parents[2] / "shared")) / "data"
FILES = {
    "cruxeval": SHARED / "cruxeval" / "cruxeval_600.jsonl",
    "mbpp": SHARED / "mbpp" / "mbpp_730.jsonl",
    "humaneval": SHARED / "humaneval" / "HumanEval.jsonl",
}


@pytest.fixture(scope="module")
def cruxeval(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with recordings of all of CRUXEval."""
    if not FILES["cruxeval"].exists():
        pytest.skip("no CRUXEval in DESKCHECK_SHARED or ../shared: would have proved its recordings true")
    folder = tmp_path_factory.mktemp("truth") / "crux"
    record_programs(programs(f"cruxeval:{FILES['cruxeval']}"), folder)
    return folder


@pytest.mark.exhaustive
def test_cruxeval_ends_in_the_published_output(cruxeval: Path) -> None:
    """All 600 end in a value that renders as published; no address; repeatable; every state decides."""
    report = check(Recordings(cruxeval))
    assert report.checked == 600
    assert (report.wrong, report.addresses, report.cut) == ({}, {}, {})
    assert (report.not_repeatable, report.ambiguous, report.explained) == ({}, {}, {})


@pytest.mark.parametrize("limit", [pytest.param(200, marks=pytest.mark.exhaustive)])
def test_the_oracle_is_right_about_cruxeval(cruxeval: Path, tmp_path: Path, limit: int) -> None:
    """The model that reads the recording scores 1 on every question kind, so many samples of each."""
    pytest.importorskip("inspect_ai", reason="would have proved the marking right on CRUXEval")
    from deskcheck.ask import AskSettings, Sampling, ask

    settings = AskSettings(sampling=Sampling(limit=limit))
    kinds = ["output", "input", "next_line", "state", "path"]
    results = ask([cruxeval], kinds, ["deskcheck/oracle"], out=tmp_path / "ask", settings=settings)
    assert {result.question: result.score for result in results} == dict.fromkeys(kinds, 1.0)
    assert min(result.n for result in results) == limit


@pytest.mark.parametrize("name", spread(["mbpp", "humaneval"], 2))
@pytest.mark.slow
def test_references_of_other_sets_reach_their_end(name: str, tmp_path: Path) -> None:
    """Every fourth of the first hundred references passes its own tests while it is recorded."""
    if not FILES[name].exists():
        pytest.skip(f"no {name} in DESKCHECK_SHARED or ../shared: would have proved that its references pass")
    some = itertools.islice(programs(f"{name}:{FILES[name]}"), 0, 100, 4)
    slow = {"HumanEval/36"}  # 420,000 events
    record_programs(
        (program for program in some if program.id not in slow),
        tmp_path / "runs",
        RecordSettings(repeat=False),
    )
    report = check(Recordings(tmp_path / "runs"), max_events=2000)
    assert report.checked >= 24
    assert (report.wrong, report.addresses, report.ambiguous) == ({}, {}, {})
