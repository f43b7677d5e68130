"""The same job on a Ray cluster of two nodes gives the same rows as on this machine."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from deskcheck.errors import MissingExtra
from deskcheck.jobs import LocalPool
from deskcheck.recorder.job import record_job
from deskcheck.recording.reader import Recordings
from tests.conftest import skip_without_ray
from tests.jobs.jobs import OPEN, STRICT, attackers, killer, sums
from tests.jobs.same import digests, order

HERE = importlib.util.find_spec("ray") is not None
ON_RAY = pytest.mark.skipif(
    not HERE, reason="needs the extra [scale]: would have proved that Ray and the pool give equal rows"
)
ROOT = Path(__file__).parents[2]


def on_ray(folder: Path, count: int, *more: str) -> dict[str, Any]:
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-m", "tests.jobs.on_ray", str(folder), str(count), *more],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=1500,
        check=False,
    )
    skip_without_ray(done.stderr, "Ray and the pool give equal rows")
    assert done.returncode == 0, done.stderr[-3000:]
    # Ray says on standard output what died.
    told = next(line for line in done.stdout.splitlines() if line.startswith("{"))
    summary: dict[str, Any] = json.loads(told)
    return summary


@ON_RAY
@pytest.mark.slow
@pytest.mark.usefixtures("one_ray_at_a_time")
def test_a_cluster_of_our_own_listens_on_loopback_alone() -> None:
    """Every server of it: nobody in the network can join, or run anything there."""
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-m", "tests.jobs.listening"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    skip_without_ray(done.stderr, "a cluster of our own listens on loopback alone")
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("[")))
    assert len(found) > 3
    assert set(found) <= {"127.0.0.1", "::ffff:127.0.0.1", "::1"}


@ON_RAY
@pytest.mark.usefixtures("one_ray_at_a_time")
@pytest.mark.parametrize(
    "more",
    [
        pytest.param((), marks=pytest.mark.exhaustive, id="two nodes"),
        pytest.param(("--lose",), marks=pytest.mark.exhaustive, id="a node is lost"),
    ],
)
def test_ray_and_the_pool_record_the_same(tmp_path: Path, more: tuple[str, ...]) -> None:
    """Two nodes, a program that kills its worker, and once a node that goes away while another comes: the rows are
    those of the local pool, in the same order, and the killer stands alone."""
    summary = on_ray(tmp_path / "ray", 25, "--killer", *more)
    assert summary["programs"] == 31
    assert summary["tried_again"]
    programs = [*sums(25), killer("is killed", signal.SIGKILL), *sums(5, 25)]
    record_job(programs, tmp_path / "here", runner=LocalPool(2), settings=OPEN, size=10)
    ours, theirs = digests(tmp_path / "here"), digests(tmp_path / "ray")
    # How it was killed is told by whoever looked on.
    for found in (ours, theirs):
        del found["is killed"]
    assert theirs == ours
    assert order(tmp_path / "ray") == order(tmp_path / "here")
    assert list(summary["problems"]) == ["is killed"]
    assert "3 times" in Recordings(tmp_path / "ray")["is killed"].run_result.detail


@ON_RAY
@pytest.mark.exhaustive
@pytest.mark.level("strict")
@pytest.mark.usefixtures("one_ray_at_a_time")
def test_programs_that_attack_their_reader(tmp_path: Path) -> None:
    """On Ray as here: each has its row, no worker ends, and the rows of all others are those of a job without them.
    Who breaks the tracer in its own process has that said of it alone."""
    summary = on_ray(tmp_path / "ray", 25, "--attackers")
    names = {program.id for program in attackers()}
    assert len(names) > 60
    assert (summary["programs"], summary["tried_again"]) == (25 + len(names), {})
    assert {detail.partition(":")[0] for detail in summary["problems"].values()} <= {"the tracer failed"}
    assert set(summary["problems"]) <= names
    record_job(sums(25), tmp_path / "here", runner=LocalPool(2), settings=STRICT, size=10)
    theirs = digests(tmp_path / "ray")
    assert names <= set(theirs)
    assert {name: theirs[name] for name in theirs if name not in names} == digests(tmp_path / "here")


@pytest.mark.skipif(
    HERE, reason="Ray is installed: would have proved that its absence is said with the way out"
)
def test_without_ray_the_extra_is_named() -> None:
    """Without Ray the error names the command that installs it."""
    from deskcheck.jobs.ray import RayCluster

    with pytest.raises(MissingExtra, match=r"pip install 'deskcheck\[scale\]'"):
        RayCluster()
