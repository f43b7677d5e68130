"""Lessons made in shards: the rows of `build`, resumed, disturbed, refused."""

import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from deskcheck.jobs import LocalPool
from deskcheck.jobs.job import TRIES
from deskcheck.jobs.status import changed, failures, status
from deskcheck.recording import InputError, Program, RecordingError
from deskcheck.recording.reader import Recordings
from deskcheck.teach.lessons.census import census_of
from deskcheck.teach.lessons.job import build_in_shards
from deskcheck.teach.lessons.lessons import LessonSettings, build
from tests.conftest import skip_without_ray
from tests.teach.conftest import Recorded, call, rows_of

LOOP = "def f(n):\n    s = 0\n    for i in range(n):\n        s += i\n    return s\n"
SETTINGS = LessonSettings(
    notations=("dynamic", "compact"), steps=25, jumps=(1, 2), validation=0.2, test=0.1, budget=1200
)
ROOT = Path(__file__).parents[2]


def runs_of_many(count: int) -> list[Program]:
    """Three runs of each of some programs, far from one another, some of them left out for various reasons."""
    found = []
    for turn in range(3):
        for n in range(count):
            code = LOOP.replace("s = 0", f"s = {n}")
            train_ok = n % 7 != 6
            found.append(call(f"p{n}-{turn}", code, f"({n % 5 + 2 * (turn % 2)})", train_ok=train_ok))
    found.append(call("long", LOOP.replace("s = 0", f"s = {'1' * 900}"), "(3)"))
    return found


def by_key(folder: Path) -> dict[int, Any]:
    rows = rows_of(folder)
    found = {row["key"]: row for row in rows}
    assert len(found) == len(rows)
    return found


def assert_same_rows(made: Path, wanted: Path) -> None:
    """Key by key: where they differ, a diff of all of them takes minutes and tells nothing."""
    found, expected = by_key(made), by_key(wanted)
    assert sorted(expected.keys() - found.keys()) == [], "rows are missing"
    for key, row in found.items():
        assert row == expected.get(key)


def in_shards(runs: list[Path], out: Path, *, settings: LessonSettings = SETTINGS, **more: Any) -> Any:
    return build_in_shards(runs, out, settings, runner=LocalPool(2), size=4, **more)


@pytest.fixture
def runs(record: Recorded) -> list[Path]:
    return [
        record(*runs_of_many(12), folder="first"),
        record(call("other", LOOP, "(9)"), call("again", LOOP, "(9)"), folder="second"),
        record(call("shaky", LOOP.replace("s = 0", "s = 99")), folder="third", repeatable=False),
    ]


def test_rows_and_counts_are_those_of_build(runs: list[Path], tmp_path: Path) -> None:
    """Row for row and count for count; those of a shard lie in the order of the recordings; only what is to stay
    stays; `build` on the folder finds its own lessons."""
    summary = build(runs, tmp_path / "plain", SETTINGS)
    told, done = in_shards(runs, tmp_path / "job")
    assert_same_rows(tmp_path / "job", tmp_path / "plain")
    assert told == summary
    assert told.left_out["recordings"]["the same run again"] > 1
    assert (done.totals.programs, done.totals.not_repeatable) == (14, 1)
    assert done.totals.shards > 2
    place = {r.id: n for n, r in enumerate(r for folder in runs for r in Recordings(folder))}
    for path in (tmp_path / "job").glob("train-*.parquet"):
        found = [place[row["program"]] for row in rows_of_file(path)]
        assert found == sorted(found)
    names = {path.name.partition("-")[0] for path in (tmp_path / "job").iterdir()}
    assert names == {"train", "validation", "test", "job.json", "manifest.jsonl", "lessons.json"}
    assert build(runs, tmp_path / "job", SETTINGS) == summary
    of_job = status(tmp_path / "job")
    taken = summary.recordings - sum(summary.left_out["recordings"].values())
    assert (of_job.kind, of_job.whole, of_job.totals.by_outcome["taken"]) == ("lessons", True, taken)
    assert changed(tmp_path / "job") == []


def rows_of_file(path: Path) -> list[dict[str, Any]]:
    import pyarrow.parquet as pq

    rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return rows


@pytest.mark.slow
def test_again_does_nothing_and_one_program_more_makes_its_shard(
    record: Recorded, runs: list[Path], tmp_path: Path
) -> None:
    """What is there is not made again, in whichever shard of recordings it lies; other settings are refused."""
    in_shards(runs, tmp_path / "out")
    times = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("*.parquet")}
    _, again = in_shards(runs, tmp_path / "out")
    assert (again.recorded, again.skipped) == (0, 14)
    assert {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("*.parquet")} == times
    more = [*runs, record(call("new", LOOP.replace("s = 0", "s = 5000"), "(4)"), folder="fourth")]
    with pytest.raises(InputError, match=r"shards that are not in this plan.*--replace"):
        in_shards(more, tmp_path / "out")
    assert json.loads((tmp_path / "out" / "lessons.json").read_text())["complete"] is True
    _, added = in_shards(more, tmp_path / "out", replace=True)
    assert 0 < added.recorded <= 8
    build(more, tmp_path / "plain", SETTINGS)
    assert_same_rows(tmp_path / "out", tmp_path / "plain")
    with pytest.raises(InputError, match="shards that are not in this plan"):
        in_shards(more, tmp_path / "out", settings=LessonSettings(budget=1200))
    with pytest.raises(InputError, match="made without --shards"):
        in_shards(runs, runs[0])


JOB = """
import sys
from pathlib import Path
from deskcheck.jobs import LocalPool
from tests.teach.test_lessons_job import SETTINGS, build_in_shards
build_in_shards([Path(sys.argv[1])], Path(sys.argv[2]), SETTINGS, runner=LocalPool(2), size=2)
"""


@pytest.mark.slow
def test_driver_and_workers_are_killed(record: Recorded, tmp_path: Path) -> None:
    """The driver killed in the middle and started again, then workers killed: the rows are those of `build`, and the
    killed shards were made again."""
    source = record(*(call(f"p{n}", LOOP.replace("s = 0", f"s = {n}"), f"({n + 20})") for n in range(40)))
    build([source], tmp_path / "plain", SETTINGS)
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    with subprocess.Popen(
        [sys.executable, "-c", JOB, str(source), str(tmp_path / "out")],
        env={**os.environ, "PYTHONPATH": path},
    ) as driver:
        while not any((tmp_path / "out").glob("train-*.parquet")) and driver.poll() is None:
            time.sleep(0.01)
        driver.kill()
    with pytest.raises(InputError, match="an unfinished job"):
        build([source], tmp_path / "out", SETTINGS)
    pool = LocalPool(2)
    over = threading.Event()
    killed: list[int] = []

    def kill() -> None:
        while len(killed) < TRIES - 1 and not over.wait(0.3):  # once more, and a program alone is accused
            for pid in pool.pids[:1]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        _, done = build_in_shards([source], tmp_path / "out", SETTINGS, runner=pool, size=2)
    finally:
        over.set()
        thread.join()
    assert done.skipped + done.recorded == 40
    # One that was killed with its last answer given lost nothing.
    assert 0 < done.tried_again["killed by SIGKILL"] <= len(killed)
    assert_same_rows(tmp_path / "out", tmp_path / "plain")
    assert not (tmp_path / "out" / ".job").exists()


@pytest.mark.slow
def test_a_program_that_ends_its_worker_stands_alone(
    record: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gives no lessons and is named; all other rows are as without it. (A tokenizer that ends the process at one
    word stands for what may go wrong in one.)"""
    given = [call(f"p{n}", LOOP.replace("s = 0", f"s = {n}"), "(3)") for n in range(14)]
    deadly = call("deadly", LOOP.replace("s = 0", "deadly = s = 0"), "(3)")
    source = record(*given[:6], deadly, *given[6:], folder="with")
    build([record(*given, folder="without")], tmp_path / "plain", SETTINGS)
    hook = tmp_path / "hook"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(
        "import sys, os\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'deskcheck.teach.lessons.making':\n"
        "            sys.meta_path.remove(self)\n"
        "            import deskcheck.teach.lessons.tokens as tokens\n"
        "            data = tokens.Bytes.data\n"
        "            def deadly(self, text):\n"
        "                if 'deadly' in text: os._exit(9)\n"
        "                return data(self, text)\n"
        "            tokens.Bytes.data = deadly\n"
        "sys.meta_path.insert(0, Finder())\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(hook), os.environ.get("PYTHONPATH", "")]))
    told, done = in_shards([source], tmp_path / "out")
    assert_same_rows(tmp_path / "out", tmp_path / "plain")
    assert told.left_out["recordings"] == {"ended the process that made its lessons": 1}
    assert list(done.totals.problems) == ["deadly"]
    assert "exited with status 9 (3 times)" in failures(tmp_path / "out")["harness_error"]["deadly"]


def test_nothing_left_is_refused(record: Recorded, tmp_path: Path) -> None:
    """With the reasons, as by `build`: at once where none is cleared, else at the end."""
    unlicensed = record(call("a", LOOP, "(2)", train_ok=False, source="crux"), folder="unlicensed")
    with pytest.raises(InputError, match=r"1 from crux \(MIT\).*--any-licence"):
        in_shards([unlicensed], tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(InputError, match=r"no lesson is left: .*shortest has .*; the budget is 90"):
        in_shards(
            [record(call("a", LOOP, "(2)"), call("b", LOOP, "(3)"))],
            tmp_path / "out",
            settings=LessonSettings(budget=90, any_licence=True),
        )


@pytest.mark.slow
def test_damaged_recordings_end_the_job(record: Recorded, tmp_path: Path) -> None:
    """It is said which file, and no program is blamed for it; restored, the same call makes all."""
    source = record(*(call(f"p{n}", LOOP.replace("s = 0", f"s = {n}"), "(3)") for n in range(9)))
    events = sorted(source.glob("events-*.parquet"))[-1]
    whole = events.read_bytes()
    events.write_bytes(whole[:60] + bytes(20) + whole[80:])
    with pytest.raises((InputError, RecordingError), match=events.name):
        in_shards([source], tmp_path / "out")
    events.write_bytes(whole)
    _, done = in_shards([source], tmp_path / "out")
    assert done.totals.problems == {}
    build([source], tmp_path / "plain", SETTINGS)
    assert_same_rows(tmp_path / "out", tmp_path / "plain")


def test_what_is_held_out_is_held_out(record: Recorded, tmp_path: Path) -> None:
    """Workers know the programs of sets that models are tested on by what the driver wrote down."""
    held = tmp_path / "held.jsonl"
    held.write_text(json.dumps({"code": LOOP, "entry": "f", "inputs": ["(1,)"]}) + "\n")
    settings = LessonSettings(without=(str(held),), test=0, validation=0)
    other = call("other", "def f(n):\n    return [n, n * n, str(n)]\n", "(3)")
    source = record(call("held", LOOP.replace("s", "total"), "(3)"), other)
    told, _ = in_shards([source], tmp_path / "out", settings=settings)
    assert build([source], tmp_path / "plain", settings) == told
    assert_same_rows(tmp_path / "out", tmp_path / "plain")
    assert told.left_out["recordings"] == {f"the same as a program of {held}": 1}


def test_programs_are_grouped_and_stay_in_order(runs: list[Path]) -> None:
    """Every recording is in one item, all runs of a program in one, programs in order of their first run."""
    folders = [Recordings(folder) for folder in runs]
    census = census_of(folders, SETTINGS)
    found = [json.loads(item.line) for item in census.items()]
    every = [(n, shard, row) for n, folder in enumerate(folders) for shard, row, _ in folder.columns("id")]
    assert sorted(tuple(where) for item in found for where in item) == sorted(every)
    firsts = [every.index(tuple(item[0])) for item in found]
    assert firsts == sorted(firsts)
    codes = [{folders[n].at(shard, row).program.code for n, shard, row in item} for item in found]
    assert all(len(code) == 1 for code in codes)
    assert len({code for some in codes for code in some}) == len(codes)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("one_ray_at_a_time")
@pytest.mark.skipif(
    importlib.util.find_spec("ray") is None,
    reason="needs the extra [scale]: would have proved that Ray makes the lessons that the pool makes",
)
def test_on_ray(record: Recorded, tmp_path: Path) -> None:
    """`deskcheck lessons --on ray` makes the rows that `deskcheck lessons` makes."""
    record(*runs_of_many(12))
    path = os.pathsep.join([str(ROOT / "src"), *filter(None, sys.path)])
    for more in ((), ("--on", "ray", "--shards", "4")):
        ran = subprocess.run(
            [sys.executable, "-m", "deskcheck", "lessons", "runs", "--out", f"out{len(more)}", *more],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path, "RAY_ADDRESS": "local"},
            capture_output=True,
            text=True,
            timeout=1500,
            check=False,
        )
        skip_without_ray(ran.stderr, "Ray makes the lessons that the pool makes")
        assert ran.returncode == 0, ran.stderr[-3000:]
    assert_same_rows(tmp_path / "out4", tmp_path / "out0")
