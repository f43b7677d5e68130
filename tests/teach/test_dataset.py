"""Folders for `datasets`: it loads them by their name, and what is not cleared for training is not in them."""

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from deskcheck.recording import InputError, RecordingError
from deskcheck.recording.reader import Recordings
from deskcheck.teach.lessons import dataset as dataset_module
from deskcheck.teach.lessons.choice import SPLITS, split_of
from deskcheck.teach.lessons.dataset import export_dataset
from deskcheck.teach.lessons.lessons import LessonSettings, build, program_sha256
from tests.teach.conftest import Recorded, call, rows_of

LOOP = "def f(n):\n    s = 0\n    for i in range(n):\n        s += i\n    return s\n"


@pytest.fixture
def runs(record: Recorded) -> Path:
    """Programs of three origins, of which one is not cleared for training."""
    kinds: list[dict[str, Any]] = [
        {},
        {"source": "b|c", "licence": "Odd-1.0"},
        {"source": "web", "licence": None, "train_ok": False},
    ]
    return record(
        *(call(f"p{n}", LOOP.replace("s = 0", f"s = {n}"), "(3)", **kinds[n % 3]) for n in range(60))
    )


def load(folder: Path, tmp_path: Path, *config: str) -> Any:
    datasets = pytest.importorskip("datasets", reason="would have proved that `datasets` loads the folder")
    return datasets.load_dataset(str(folder), *config, cache_dir=str(tmp_path / "cache"))


def test_datasets_loads_recordings(runs: Path, tmp_path: Path) -> None:
    """All that are cleared, each in the split of its program, with every column; and their events, in order."""
    exported = export_dataset(runs, tmp_path / "out", validation=0.2, test=0.2)
    found = load(tmp_path / "out", tmp_path)
    assert {split: len(rows) for split, rows in found.items()} == exported.rows["data"]
    rows = {row["id"]: (split, row) for split in found for row in found[split]}
    expected = {r.id: r for r in Recordings(runs) if r.program.train_ok}
    assert len(rows) == sum(map(len, found.values())) == len(expected) == 40
    for name, (split, row) in rows.items():
        assert split == split_of(program_sha256(row["code"]), 0.2, 0.2)
        assert row["code"] == expected[name].program.code
        assert row["result"] == expected[name].run_result.result
        assert row["train_ok"] is True
    events = load(tmp_path / "out", tmp_path, "events")
    assert {split: len(some) for split, some in events.items()} == exported.rows["events"]
    lines: dict[str, list[Any]] = {name: [] for name in expected}
    for split, some in events.items():
        for event in some:
            assert rows[event["recording"]][0] == split
            lines[event["recording"]].append((event["index"], event["kind"], event["line"]))
    for name, recording in expected.items():
        assert lines[name] == [(e.index, e.kind, e.line) for e in recording.trace.rows]


def test_the_card_tells_licences_and_what_was_left_out(runs: Path, tmp_path: Path) -> None:
    """YAML that the hub reads, with its own words for licences; who wants all gets all, and the rows say so."""
    yaml = pytest.importorskip("yaml", reason="would have proved that the card's head is YAML")
    exported = export_dataset(
        runs, tmp_path / "out", name='Runs: a "set"', validation=0, test=0, events=False
    )
    assert exported.left_out == {"from web (no licence)": 20}
    _, head, text = (tmp_path / "out" / "README.md").read_text().split("---\n", 2)
    told = yaml.safe_load(head)
    assert told["pretty_name"] == 'Runs: a "set"'
    assert told["license"] == ["mit", "other"]
    assert told["size_categories"] == ["n<1K"]
    files = [{"split": "train", "path": "data/train-*.parquet"}]
    assert told["configs"] == [{"config_name": "recordings", "default": True, "data_files": files}]
    assert "| b\\|c | Odd-1.0 | yes | 20 |" in text
    assert "- 20 from web (no licence)" in text
    all_of_them = export_dataset(runs, tmp_path / "all", any_licence=True, events=False)
    assert all_of_them.left_out == {}
    assert Counter(row["train_ok"] for rows in load(tmp_path / "all", tmp_path).values() for row in rows) == {
        True: 40,
        False: 20,
    }
    assert "unknown" in (tmp_path / "all" / "README.md").read_text().split("---\n")[1]


def test_datasets_loads_lessons(runs: Path, tmp_path: Path) -> None:
    """In the splits that they have; those made of what is not cleared stay out."""
    settings = LessonSettings(validation=0.3, test=0.2, any_licence=True)
    build([runs], tmp_path / "lessons", settings)
    exported = export_dataset(tmp_path / "lessons", tmp_path / "out")
    found = load(tmp_path / "out", tmp_path)
    wanted = [row for row in rows_of(tmp_path / "lessons") if row["train_ok"]]
    assert set(found) == set(SPLITS)
    for split in SPLITS:
        assert list(found[split]) == [row for row in wanted if row["split"] == split]
    assert sum(exported.left_out.values()) == len(rows_of(tmp_path / "lessons")) - len(wanted) > 0


def test_large_sets_are_several_files(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file is much larger than wanted, and none of them is lost on the way."""
    monkeypatch.setattr(dataset_module, "_FILE_BYTES", 10_000)
    monkeypatch.setattr(dataset_module, "_GROUP_BYTES", 1_000)
    exported = export_dataset(runs, tmp_path / "out", validation=0, test=0)
    files = sorted((tmp_path / "out" / "data").iterdir())
    assert len(files) > 1
    ids = [name for path in files for name in pq.read_table(path, columns=["id"]).column(0).to_pylist()]
    assert ids == [r.id for r in Recordings(runs) if r.program.train_ok]
    assert exported.rows["data"] == {"train": 40}


def test_it_is_whole_or_absent(record: Recorded, runs: Path, tmp_path: Path) -> None:
    """Nothing cleared, a damaged shard, shares of everything, a folder that is there: a word, and no folder."""
    unclear = record(call("a", LOOP, "(2)", train_ok=False, source="crux"), folder="unclear")
    with pytest.raises(InputError, match=r"no rows are left.*1 from crux \(MIT\).*--any-licence"):
        export_dataset(unclear, tmp_path / "out")
    with pytest.raises(InputError, match="leave some for training"):
        export_dataset(runs, tmp_path / "out", validation=0.5, test=0.5)
    with pytest.raises(RecordingError, match="does not exist"):
        export_dataset(tmp_path / "nowhere", tmp_path / "out")
    events = sorted(runs.glob("events-*.parquet"))[-1]
    whole = events.read_bytes()
    events.write_bytes(whole[:60] + bytes(20) + whole[80:])
    with pytest.raises(RecordingError, match=rf"{events.name}: cannot be read"):
        export_dataset(runs, tmp_path / "out")
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith("out")]
    events.write_bytes(whole)
    export_dataset(runs, tmp_path / "out")
    with pytest.raises(InputError, match="exists already"):
        export_dataset(runs, tmp_path / "out")


@pytest.mark.slow
def test_the_command(runs: Path, tmp_path: Path) -> None:
    """`deskcheck runs export hf` says what it wrote and what it left out."""
    command = [
        sys.executable,
        "-m",
        "deskcheck",
        "runs",
        "export",
        "hf",
        str(runs),
        "--out",
        "out",
        "--test",
        "0",
    ]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=200)
    assert ran.returncode == 0, ran.stderr
    assert "left out, not cleared for training: 20 from web (no licence)" in ran.stdout
    again = subprocess.run(
        [*command, "--json"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=200
    )
    assert (again.returncode, again.stdout) == (2, "")
    assert "out: exists already" in again.stderr
