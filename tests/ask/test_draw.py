"""Which samples a limit takes, and in which order they are asked."""

import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from deskcheck.ask.questions.lines import write_questions
from deskcheck.ask.questions.sampling import drawn
from deskcheck.ask.questions.settings import Sampling
from deskcheck.recording import Recording
from tests.command import deskcheck as command_line

Record = Callable[..., Recording]


@dataclass(frozen=True)
class Place:
    id: str
    program: str
    cluster: str


PLACES = [
    Place(f"{folder}{cluster}{n}:{k}", f"{folder}{cluster}{n}", f"{cluster}")
    for folder, clusters in (("a", "xyz"), ("b", "pqrstu"))
    for cluster in clusters
    for n in range(1 if cluster in "ypq" else 4)
    for k in range(3)
]
FOLDERS = {place.program: "ab".index(place.program[0]) for place in PLACES}


def ids(seed: int, limit: int | None = None, shuffled: int = 0) -> list[str]:
    places = list(PLACES)
    random.Random(shuffled).shuffle(places)
    return [place.id for place in drawn(places, seed=seed, limit=limit, folders=FOLDERS)]


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_the_recordings_does_not_count(seed: int) -> None:
    """Whatever order they come in, one seed gives one order; a larger limit includes the smaller; none is lost."""
    known = ids(seed)
    assert sorted(known) == sorted(place.id for place in PLACES)
    assert all(ids(seed, shuffled=n) == known for n in range(1, 20))
    assert all(ids(seed, limit, shuffled=limit) == known[:limit] for limit in range(1, len(known) + 5))


def test_another_seed_draws_others() -> None:
    """Of one cluster, too."""
    assert len({tuple(ids(seed, 4)) for seed in range(20)}) == 20
    one = [place for place in PLACES if place.cluster == "x"]
    assert len({drawn(one, seed=seed, limit=1)[0].id for seed in range(40)}) > 6


@pytest.mark.parametrize("limit", range(1, len(PLACES) + 1))
def test_folders_and_clusters_take_turns(limit: int) -> None:
    """A folder, and a cluster in it, has at most one more than any other that has some left."""
    taken = ids(3, limit)
    for length in (1, 2):  # of the name of a folder, of a cluster in it
        there = Counter(place.id[:length] for place in PLACES)
        got = Counter(place.id[:length] for place in PLACES if place.id in taken)
        for name in there:
            rivals = [other for other in there if other[:-1] == name[:-1]]
            assert got[name] == there[name] or all(got[other] <= got[name] + 1 for other in rivals)


def test_questions_do_not_depend_on_the_order_of_recordings(record: Record, tmp_path: Path) -> None:
    """The file of questions is the same, byte for byte, with a limit and without."""
    recordings = [
        record(f"def f(n):\n    return n + {k}\n", "f", f"({n},)", id=f"{k}/{n}")
        for k in range(3)
        for n in range(4)
    ]
    found: set[bytes] = set()
    for limit in (None, 5):
        found.clear()
        for number in range(4):
            random.Random(number).shuffle(recordings)
            path = tmp_path / f"{number}.jsonl"
            write_questions(path, recordings, ["output", "next_line"], sampling=Sampling(limit=limit, seed=7))
            found.add(path.read_bytes())
        assert len(found) == 1
    asked = [json.loads(line)["id"] for line in found.pop().splitlines()]
    assert len({id_.partition("/")[0] for id_ in asked if "output" in id_}) == 3


@pytest.mark.slow
def test_the_number_of_workers_does_not_count(tmp_path: Path) -> None:
    """Recorded by one worker and by four, into one shard or several: the same questions."""
    rows = [
        {
            "code": f"def f(n):\n    x = sum(range(n * {k} % 50000))\n    return x\n",
            "entry": "f",
            "inputs": inputs,
        }
        for k, inputs in ((1, ["(3,)", "(49999,)"]), (7, ["(49999,)", "(1,)"]), (11, ["(9,)", "(2,)"]))
    ]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = set()
    for workers in (1, 4):
        recorded = ["record", "p.jsonl", "--out", f"r{workers}", "--workers", workers]
        assert command_line(*recorded, cwd=tmp_path).returncode == 0
        asked = [
            "offline",
            "questions",
            f"r{workers}",
            "-q",
            "output,next_line",
            "--limit",
            4,
            "--out",
            f"{workers}.jsonl",
        ]
        assert command_line(*asked, cwd=tmp_path).returncode == 0
        found.add((tmp_path / f"{workers}.jsonl").read_bytes())
    assert len(found) == 1
