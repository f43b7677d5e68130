"""Lessons: what a row says, what is left out and why, that a killed builder loses nothing, what is refused."""

import json
import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskcheck.jobs.key_set import KeySet
from deskcheck.notation import NOTATIONS, moments, transitions
from deskcheck.notation.layout import program_text, step_prompt, trace_prompt
from deskcheck.recording import InputError, Program, RecordingError
from deskcheck.recording.reader import Recordings
from deskcheck.sources.near import HeldOut
from deskcheck.teach.lessons import lessons as lessons_module
from deskcheck.teach.lessons.choice import SPLITS, chosen_steps, shares, split_of
from deskcheck.teach.lessons.dataset import export_dataset
from deskcheck.teach.lessons.lessons import LessonSettings, build
from deskcheck.teach.lessons.shards import refuse_unfinished
from deskcheck.teach.lessons.tokens import Bytes
from deskcheck.tracer import Granularity
from tests.sample import spread
from tests.teach.conftest import Recorded, call, rows_of

LOOP = "def f(n):\n    s = 0\n    for i in range(n):\n        s += i\n    return s\n"
DEEP = "def f(n):\n    return n and f(n - 1) + 1\n"


def settings(**given: Any) -> LessonSettings:
    return LessonSettings(**{"validation": 0, "test": 0} | given)


def programs(count: int) -> list[Program]:
    """Different ones."""
    return [call(f"p{n}", LOOP.replace("s = 0", f"s = {n}"), f"({n % 5 + 1})") for n in range(count)]


def test_a_step_is_two_states_and_the_layout(record: Recorded, tmp_path: Path) -> None:
    """Without sampling, the rows are exactly the transitions, asked for as `step_prompt` does; and so for jumps."""
    runs = record(call("a", DEEP, "(3)"), call("b", LOOP, "(2)"))
    build([runs], tmp_path / "one", settings())
    build([runs], tmp_path / "three", settings(jumps=(3,)))
    for folder, jump in (("one", 1), ("three", 3)):
        rows = rows_of(tmp_path / folder)
        wanted = []
        for recording in Recordings(runs):
            program = recording.program
            states = moments(recording.trace, file=program.filename)
            for index, (state, after) in enumerate(transitions(states, jump)):
                prompt = step_prompt(program.code.splitlines(), state, jump)
                wanted.append((program_text(program), prompt, after, program.id, index))
        assert [
            tuple(row[key] for key in ("prefix", "prompt", "completion", "program", "index")) for row in rows
        ] == wanted
        assert {row["jump"] for row in rows} == {jump}
        assert max(row["depth"] for row in rows) == 4


def test_a_whole_run_is_what_its_notation_writes(record: Recorded, tmp_path: Path) -> None:
    """One row a recording and notation."""
    names = tuple(
        name for name, notation in NOTATIONS.items() if not notation.instructions and name != "dynamic"
    )
    runs = record(call("a", DEEP, "(3)"), call("b", LOOP, "(2)"))
    build([runs], tmp_path / "out", settings(notations=names))
    found = {(row["program"], row["notation"]): row for row in rows_of(tmp_path / "out")}
    assert len(found) == 2 * len(names)
    for recording in Recordings(runs):
        for name in names:
            row = found[recording.id, name]
            assert row["completion"] == NOTATIONS[name].render(recording)
            assert row["prompt"] == trace_prompt(recording.program, name)
            assert (row["jump"], row["index"]) == (None, None)
    assert found["a", "compact"]["depth"] == 4


def test_bytes_and_labels(record: Recorded, tmp_path: Path) -> None:
    """The tokens are the texts; the trained ones are the completion and the end, and the counts count them."""
    runs = record(
        call("a", "def f():\n    a = 'Größe 𝄞 123'\n    return a\n"), call("b", LOOP, "(12)", licence=None)
    )
    build([runs], tmp_path / "out", settings(notations=("dynamic", "compact")))
    assert {(row["program"], row["licence"]) for row in rows_of(tmp_path / "out")} == {
        ("a", "MIT"),
        ("b", None),
    }
    for row in rows_of(tmp_path / "out"):
        text = row["prefix"] + row["prompt"]
        assert row["input_ids"] == [*Bytes().encode(text + row["completion"]), Bytes.end]
        trained = [label for label in row["labels"] if label != -100]
        assert trained == [*Bytes().encode(row["completion"]), Bytes.end]
        assert row["labels"] == [-100] * len(Bytes().encode(text)) + trained
        assert row["input_ids"][: row["prefix_tokens"]] == Bytes().encode(row["prefix"])
        assert (row["tokens"], row["trained_tokens"]) == (len(row["input_ids"]), len(trained))


def test_instructions(record: Recorded, tmp_path: Path) -> None:
    """Of a recording at each instruction, states at instructions and at lines."""
    runs = record(call("a", LOOP, "(2)"), granularity=Granularity.INSTRUCTION)
    names = ("dynamic", "dynamic_instruction")
    build([runs], tmp_path / "out", settings(notations=names))
    rows = rows_of(tmp_path / "out")
    count = Counter((row["notation"], row["granularity"]) for row in rows)
    assert count["dynamic_instruction", "instruction"] > 2 * count["dynamic", "line"] > 10
    recording = next(iter(Recordings(runs)))
    for name, instructions in zip(names, (False, True), strict=True):
        states = moments(recording.trace, file=recording.program.filename, instructions=instructions)
        wanted = [after for _, after in transitions(states)]
        assert [row["completion"] for row in rows if row["notation"] == name] == wanted


def test_drawn_steps(record: Recorded, tmp_path: Path) -> None:
    """At most so many of a program, shared by its runs; the same for the same seed, others for another."""
    runs = record(*[call(f"r{n}", LOOP, f"({n})") for n in (1, 40, 80)], call("other", DEEP, "(2)"))
    found = {}
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        summary = build([runs], tmp_path / name, settings(steps=50, jumps=(1, 2, 4), seed=seed))
        rows = rows_of(tmp_path / name)
        found[name] = [(row["program"], row["index"], row["jump"]) for row in rows]
        count = Counter(row["program"] for row in rows)
        assert count["other"] < 50
        assert count["r1"] + count["r40"] + count["r80"] <= 50
        assert count["r1"] < 10 < 20 <= min(count["r40"], count["r80"])
        assert {row["jump"] for row in rows} == {1, 2, 4}
        in_long = [row["index"] for row in rows if row["program"] == "r80"]
        assert min(in_long) < 20
        assert max(in_long) > 140
        left = summary.left_out["dynamic"]["not drawn"]
        assert left == summary.events - 4 - len(rows) - summary.left_out["dynamic"].get(
            "the same lesson again", 0
        )
    assert found["a"] == found["b"] != found["c"]


def test_reasons(record: Recorded, tmp_path: Path) -> None:
    """Each reason, of recordings and of lessons, with its count; and nothing is lost between."""
    runs = record(
        call("kept", LOOP, "(3)"),
        call("again", LOOP, "(3)"),
        call("unlicensed", DEEP, "(2)", train_ok=False, source="web", licence=None),
        call("long", "def f(n):\n    s = '" + "x" * 2000 + "'\n    return n\n", "(1)"),
        call("short", "def f(n):\n    return n\n", "(1)"),
        call(
            "loops",
            "def f(n):\n    while n:\n        pass\n        n = n[1:]\n    return n\n",
            "('ab' * 700)",
        ),
    )
    shaky = record(call("shaky", "def f():\n    return 1\n"), folder="shaky", repeatable=False)
    notes: list[str] = []
    summary = build(
        [runs, shaky],
        tmp_path / "out",
        settings(budget=1500, notations=("dynamic", "compact")),
        note=notes.append,
    )
    assert summary.left_out["recordings"] == {
        "the same run again": 1,
        "not cleared for training": 1,
        "not repeatable": 1,
    }
    assert notes == ["1 recordings are not cleared for training and left out: 1 from web (no licence)"]
    assert summary.left_out["compact"] == {"over the budget": 2}
    steps = summary.left_out["dynamic"]
    assert set(steps) == {"over the budget"}
    events = {recording.id: len(recording.trace) for recording in Recordings(runs)}
    kept = Counter((row["program"], row["notation"]) for row in rows_of(tmp_path / "out"))
    made = (
        sum(count for (_, notation), count in kept.items() if notation == "dynamic")
        + steps["over the budget"]
    )
    assert made == sum(events[name] - 1 for name in ("kept", "long", "short", "loops"))
    assert kept["kept", "dynamic"] == events["kept"] - 1
    assert ("long", "dynamic") not in kept
    assert all(row["tokens"] <= 1500 for row in rows_of(tmp_path / "out"))
    assert summary.lessons == sum(kept.values())


def test_a_place_in_another_file_is_no_lesson(record: Recorded, tmp_path: Path) -> None:
    """The program's text does not say what is done there."""
    runs = record(call("a", LOOP, "(3)"))
    other = shutil.copytree(runs, tmp_path / "other")
    path = other / "events-00000.parquet"
    table = pq.read_table(path)
    at = table.schema.get_field_index("file")
    table = table.set_column(at, table.schema.field(at), pa.array(["lib.py"] * len(table), pa.string()))
    pq.write_table(table, path)
    with pytest.raises(InputError, match=r"no lesson is left: .* in another file"):
        build([other], tmp_path / "out", settings(notations=("dynamic", "compact")))


def test_the_same_lesson_is_there_once(record: Recorded, tmp_path: Path) -> None:
    """Runs that meet: what they do from there on is one lesson each."""
    code = "def f(n):\n    n = n // 10\n    while n:\n        n -= 1\n    return n\n"
    runs = record(call("a", code, "(41)"), call("b", code, "(42)"))
    summary = build([runs], tmp_path / "out", settings())
    rows = rows_of(tmp_path / "out")
    seen = Counter((row["prefix"], row["prompt"], row["completion"]) for row in rows)
    assert set(seen.values()) == {1}
    assert len({row["key"] for row in rows}) == len(rows)
    assert summary.left_out["dynamic"]["the same lesson again"] > 5


def test_splits_go_by_program_and_stay(record: Recorded, tmp_path: Path) -> None:
    """All rows of a program are in one split; more programs do not change that of the others."""
    given = programs(60)
    twins = [call(f"{one.id}-twin", one.code, "(9)") for one in given]
    shares_ = settings(validation=0.2, test=0.2, ids=False)
    few = build([record(*given[:30], folder="few")], tmp_path / "a", shares_)
    build([record(*given, *twins, folder="many")], tmp_path / "b", shares_)
    before, after = (
        {row["program_sha256"]: row["split"] for row in rows_of(tmp_path / name)} for name in "ab"
    )
    assert before.items() <= after.items()
    for row in rows_of(tmp_path / "b"):
        assert after[row["program_sha256"]] == row["split"]
    assert set(after.values()) == set(SPLITS) == set(few.kept)
    for path in (tmp_path / "b").glob("*.parquet"):
        assert set(pq.read_table(path)["split"].to_pylist()) == {path.name.partition("-")[0]}


class _Killed(BaseException):
    """Stands for what ends a process in the middle."""


@pytest.mark.parametrize("at", spread([4, 1, 9, 13], 4))
def test_a_killed_builder_loses_nothing(
    at: int, record: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped after some recordings and started again, it has the same rows and counts as one that was not stopped."""
    monkeypatch.setattr(lessons_module, "_SHARD_PROGRAMS", 1)
    monkeypatch.setattr("deskcheck.teach.lessons.shards._GROUP_ROWS", 7)
    given = [call(f"{one.id}-{n}", one.code, f"({n + 2})") for n in range(3) for one in programs(5)]
    runs = record(*given)
    asked = settings(validation=0.3, test=0.1, steps=25, jumps=(1, 2))
    whole = build([runs], tmp_path / "whole", asked)

    def stop(done: int, of: int) -> None:
        if done == at:
            raise _Killed

    with pytest.raises(_Killed):
        build([runs], tmp_path / "parts", asked, progress=stop)
    # What a process that was killed outright leaves besides.
    (tmp_path / "parts" / "train-00099.parquet.part").write_bytes(b"PAR1")
    (tmp_path / "parts" / "train-00098.parquet").write_bytes(b"PAR1")
    assert json.loads((tmp_path / "parts" / "lessons.json").read_text())["complete"] is False
    with pytest.raises(InputError, match="its lessons are incomplete"):
        refuse_unfinished(tmp_path / "parts")
    if list((tmp_path / "parts").glob("*.parquet")):
        with pytest.raises(InputError, match="its lessons are incomplete"):
            export_dataset(tmp_path / "parts", tmp_path / "exported")
    resumed = build([runs], tmp_path / "parts", asked)
    assert resumed == whole
    names = sorted(path.name for path in (tmp_path / "whole").iterdir())
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == names
    assert len(names) > 5
    for name in names:
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert build([runs], tmp_path / "parts", asked) == whole


def test_lessons_of_other_settings_are_not_mixed(record: Recorded, tmp_path: Path) -> None:
    """The folder is refused, and the difference named."""
    runs = record(*programs(3))
    build([runs], tmp_path / "out", settings())
    with pytest.raises(InputError, match=r"made with budget=8000, not 900"):
        build([runs], tmp_path / "out", settings(budget=900))
    with pytest.raises(InputError, match="other recordings"):
        build([record(*programs(4), folder="more")], tmp_path / "out", settings())
    (tmp_path / "foreign").mkdir()
    pq.write_table(pa.table({"a": [1]}), tmp_path / "foreign" / "train-00000.parquet")
    with pytest.raises(InputError, match="deskcheck did not make it"):
        build([runs], tmp_path / "foreign", settings())
    with pytest.raises(InputError, match="deskcheck did not make it"):
        build([runs], runs, settings())
    (tmp_path / "out" / "lessons.json").write_text("{")
    with pytest.raises(RecordingError, match="damaged"):
        build([runs], tmp_path / "out", settings())
    with pytest.raises(InputError, match="damaged"):
        refuse_unfinished(tmp_path / "out")
    build([runs], tmp_path / "cut", settings())
    shard = tmp_path / "cut" / "train-00000.parquet"
    shard.write_bytes(shard.read_bytes()[:2000])
    with pytest.raises(RecordingError, match=r"train-00000.parquet: damaged"):
        build([runs], tmp_path / "cut", settings())


def test_nothing_left_is_said(record: Recorded, tmp_path: Path) -> None:
    """What cannot come to anything, with the way out."""
    unlicensed = record(
        call("a", LOOP, "(2)", train_ok=False, source="crux", licence="MIT"), folder="unlicensed"
    )
    with pytest.raises(InputError, match=r"1 from crux \(MIT\).*--any-licence"):
        build([unlicensed], tmp_path / "out", settings())
    assert not (tmp_path / "out").exists()
    by_line = record(*programs(2), folder="by line")
    with pytest.raises(InputError, match="--granularity instruction"):
        build([by_line], tmp_path / "out", settings(notations=("dynamic_instruction",)))
    with pytest.raises(InputError, match=r"no lesson is left: .* over the budget.*the budget is 50"):
        build([by_line], tmp_path / "out", settings(budget=50))
    with pytest.raises(
        InputError, match=r"no lesson is left: .*shortest has 1[0-9][0-9] tokens; the budget is 90"
    ):
        build([by_line], tmp_path / "out", settings(budget=90))
    with pytest.raises(InputError, match="no lesson is left: 2 shorter than the jump"):
        build([by_line], tmp_path / "out", settings(jumps=(1000,)))
    # The folder is free for settings that come to something.
    assert build([by_line], tmp_path / "out", settings()).lessons
    build([unlicensed], tmp_path / "taken", settings(any_licence=True))
    assert {row["train_ok"] for row in rows_of(tmp_path / "taken")} == {False}


def test_what_is_not_recordings(tmp_path: Path) -> None:
    """Notebooks, nothing, a folder that is not there."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "a.ipynb.trajectory.parquet").write_bytes(b"")
    with pytest.raises(InputError, match="trajectories of notebooks"):
        build([tmp_path / "notebooks"], tmp_path / "out")
    (tmp_path / "empty").mkdir()
    with pytest.raises(RecordingError, match="has no recordings"):
        build([tmp_path / "empty"], tmp_path / "out")
    with pytest.raises(RecordingError, match="does not exist"):
        build([tmp_path / "nowhere"], tmp_path / "out")


@pytest.mark.parametrize(
    "wrong",
    [
        {"notations": ("dynamc",)},
        {"questions": ("output", "output")},
        {"jumps": (-1,)},
        {"jumps": (-1,), "questions": ("step",), "notations": ("dynamic",)},
        {"per_recording": 0},
        {"jumps": (0,)},
        {"jumps": ()},
        {"budget": 1},
        {"steps": 0},
        {"validation": 0.6, "test": 0.4},
        {"test": -0.1},
    ],
)
def test_wrong_settings(wrong: dict[str, Any]) -> None:
    """Refused at the door."""
    with pytest.raises(InputError):
        LessonSettings(**wrong)


def test_near_copies_of_a_held_out_set_are_left_out(record: Recorded, tmp_path: Path) -> None:
    """Equal, renamed, with a docstring, with another line: left out. Another program: kept."""
    code = (
        "def f(text, size):\n    parts = text.split(',')\n    found = []\n    for part in parts:\n"
        "        if len(part) > size:\n            found.append(part.strip().lower())\n    return ';'.join(found)\n"
    )
    rows = tmp_path / "held.jsonl"
    rows.write_text(json.dumps({"code": code, "entry": "f", "inputs": ["('a,b', 0)"]}) + "\n")
    variants = {
        "equal": code,
        "renamed": code.replace("parts", "pieces").replace("found", "kept").replace("    #", ""),
        "told": code.replace("    parts =", '    """Says more."""\n    # and more\n    parts ='),
        "longer": code.replace("    return", "    found.sort()\n    return"),
        "other": "def f(text, size):\n    if size > 2:\n        return text.upper()\n    return [text] * size\n",
    }
    runs = record(*[call(name, text, "('a,bb', 1)") for name, text in variants.items()])
    summary = build([runs], tmp_path / "out", settings(without=(str(rows),)))
    assert {row["program"] for row in rows_of(tmp_path / "out")} == {"other"}
    assert summary.left_out["recordings"] == {
        f"the same as a program of {rows}": 3,
        f"near a program of {rows}": 1,
    }


def test_what_is_no_python_is_compared_by_words() -> None:
    """Held-out text that cannot be tokenised."""
    held = HeldOut()
    held.add("a", "def f(:\n  '''never closed " + " ".join(map(str, range(40))))
    assert (
        held.near("def f(:\n  '''never closed " + " ".join(map(str, range(40))))
        == "the same as a program of a"
    )
    assert held.near("def f(:\n  '''never closed") is None


def test_datasets_reads_the_folder(record: Recorded, tmp_path: Path) -> None:
    """By the folder's name alone, with its splits."""
    datasets = pytest.importorskip("datasets")
    build([record(*programs(30))], tmp_path / "out", settings(validation=0.3, test=0.2))
    found = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))
    assert set(found) == set(SPLITS)
    rows = rows_of(tmp_path / "out")
    for split in SPLITS:
        assert list(found[split]) == [row for row in rows if row["split"] == split]


# -- what is chosen ------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 50), max_size=12), st.integers(0, 200))
def test_shares(sizes: list[int], at_most: int) -> None:
    """All is given out that can be; nobody with more to give than another gets less."""
    found = shares(sizes, at_most)
    assert sum(found) == min(sum(sizes), at_most)
    assert all(share <= size for share, size in zip(found, sizes, strict=True))
    full = [share for share, size in zip(found, sizes, strict=True) if share < size]
    assert not full or max(found) - min(full) <= 1


@given(
    st.integers(0, 60),
    st.none() | st.integers(1, 30),
    st.sets(st.integers(1, 9), min_size=1),
    st.integers(0, 9),
)
def test_chosen_steps(count: int, at_most: int | None, jumps: set[int], seed: int) -> None:
    """As many as there are or are wanted, each once, in order, none beyond the end."""
    found = list(chosen_steps(count, at_most, sorted(jumps), random.Random(seed)))
    starts = max(0, count - min(jumps))
    assert len(found) == (starts if at_most is None else min(starts, at_most))
    assert [start for start, _ in found] == sorted({start for start, _ in found})
    assert all(start + jump < count and jump in jumps for start, jump in found)


@given(st.lists(st.integers(1, 5), max_size=60), st.integers(1, 30), st.integers(1, 3), st.integers(0, 9))
def test_steps_chosen_by_kind(kinds: list[int], at_most: int, jump: int, seed: int) -> None:
    """No kind that is left something of has more than another one has less."""
    found = [start for start, _ in chosen_steps(len(kinds), at_most, [jump], random.Random(seed), kinds)]
    there = Counter(kinds[: max(0, len(kinds) - jump)])
    taken = Counter(kinds[start] for start in found)
    assert found == sorted({*found})
    assert len(found) == min(at_most, there.total())
    short = [taken[kind] for kind in there if taken[kind] < there[kind]]
    assert not short or max(taken.values()) - min(short) <= 1


def test_fewer_steps_than_kinds() -> None:
    """Of several runs together each kind is there, also what a run does once."""
    kinds = [*range(5), *[9] * 50, 7]
    found = [
        [kinds[at] for at, _ in chosen_steps(56, 3, [1], random.Random(seed), kinds)] for seed in range(40)
    ]
    assert {len({*some}) for some in found} == {3}
    assert {kind for some in found for kind in some} == {0, 1, 2, 3, 4, 9}


def test_by_path_of_all_steps_is_refused() -> None:
    with pytest.raises(InputError, match=r"--by-path.*needs steps"):
        LessonSettings(by_path=True)


def test_splits_have_their_shares() -> None:
    """Of many programs; those of test stay when more are asked for validation."""
    names = [lessons_module.program_sha256(str(n)) for n in range(4000)]
    found = Counter(split_of(name, 0.1, 0.2) for name in names)
    assert 300 < found["validation"] < 500
    assert 650 < found["test"] < 950
    assert all((split_of(n, 0.1, 0.2) == "test") == (split_of(n, 0.5, 0.2) == "test") for n in names)


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 40)))
def test_seen_is_a_set(keys: list[int]) -> None:
    """0 and 1 are one key, which hashes can afford."""
    seen, known = KeySet(), set[int]()
    for key in keys:
        assert seen.add(key) == ((key or 1) not in known)
        known.add(key or 1)
    assert len(seen) == len(known)
