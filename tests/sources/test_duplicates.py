"""Recordings without those that are there already: what stays is whole, what goes is named."""

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskcheck.errors import InputError, MissingExtra
from deskcheck.jobs import LocalPool
from deskcheck.recorder.job import record_job
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Environment, Mode, Program
from deskcheck.recording.reader import Recordings
from deskcheck.recording.recording import RunResult
from deskcheck.recording.writer import Writer
from deskcheck.sources.duplicates import LIST_NAME, NEAR, SAME_PROGRAM, SAME_RUN, deduplicate
from deskcheck.sources.generated import generated
from deskcheck.sources.near import NearCopies, grams_of, tokens_of
from tests.command import deskcheck
from tests.jobs.jobs import OPEN
from tests.jobs.same import TIMES, digests
from tests.sample import examples

HERE = importlib.util.find_spec("datasketch") is not None
BY_SKETCHES = pytest.mark.skipif(
    not HERE,
    reason="needs the extra [scale]: would have proved that near copies are found and others are not",
)

LONG = """
def f(items):
    total = 0
    for item in items:
        if item % 2 == 0:
            total += item * 3
        elif item > 10:
            total -= item
        else:
            total += 1
    names = [str(item) for item in items if item > total]
    found = {name: len(name) for name in names}
    return total, sorted(found)
"""


def call(id_: str, code: str, arguments: str = "([1, 2, 30],)") -> Program:
    return Program(id=id_, code=code, mode=Mode.CALL, entry="f", arguments=arguments, source="t")


PROGRAMS = [
    call("first", LONG),
    call("other input", LONG, "([5],)"),
    call("renamed", LONG.replace("total", "s").replace("items", "xs")),
    call("one line more", LONG.replace("    return", "    found['x'] = 1\n    return")),
    call("unlike", "def f(items):\n    return items[::-1]\n"),
]
AGAIN = [call("again", LONG), call("unlike again", PROGRAMS[-1].code), call("new", LONG, "([6],)")]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A job of one shard, in order, and one of several, some of whose runs are the same."""
    root = tmp_path_factory.mktemp("runs")
    for name, programs, size in (("a", PROGRAMS, 100), ("b", AGAIN, 1)):
        record_job(programs, root / name, runner=LocalPool(1), settings=OPEN, size=size)
    return [root / "a", root / "b"]


def listed(folder: Path) -> dict[str, tuple[str, str]]:
    rows = pq.read_table(folder / LIST_NAME).to_pylist()
    return {row["id"]: (row["same_as"], row["why"]) for row in rows}


def test_each_run_is_there_once(folders: list[Path], tmp_path: Path) -> None:
    """Runs that are equal are dropped across shards and folders, and named with the first; the others are as they
    were, with their events."""
    found = deduplicate(folders, tmp_path / "out")
    order = [r.id for folder in folders for r in Recordings(folder)]
    kept = [id_ for id_ in order if id_ not in ("again", "unlike again")]
    assert [r.id for r in Recordings(tmp_path / "out")] == kept
    assert found.to_dict() == {"recordings": 8, "kept": 6, "programs": 4, "dropped": {SAME_RUN: 2}}
    assert listed(tmp_path / "out") == {"again": ("first", SAME_RUN), "unlike again": ("unlike", SAME_RUN)}
    before = {id_: digest for folder in folders for id_, digest in digests(folder).items()}
    assert digests(tmp_path / "out") == {id_: before[id_] for id_ in kept}
    for recording in Recordings(tmp_path / "out"):
        assert len(recording.trace) > 0
    assert "first_row" in TIMES  # which `digests` checks beside what it compares


def test_a_folder_that_is_named_twice_adds_nothing(folders: list[Path], tmp_path: Path) -> None:
    """The second copy of a recording, which has the id of the first, is a duplicate and no error."""
    found = deduplicate([folders[0], folders[0]], tmp_path / "out")
    assert found.to_dict() == {"recordings": 10, "kept": 5, "programs": 4, "dropped": {SAME_RUN: 5}}
    assert listed(tmp_path / "out") == {p.id: (p.id, SAME_RUN) for p in PROGRAMS}
    assert digests(tmp_path / "out") == digests(folders[0])


def test_one_call_of_two_states_of_a_module_is_not_one_run(tmp_path: Path) -> None:
    """Where the code stands in a module, it is the module's text that decides, not the call alone."""
    for name, text in (("a", "def f():\n    return 1\n"), ("b", "def f():\n    return 2\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "changing.py").write_text(text)
        program = Program(
            id=name,
            code="",
            mode=Mode.CALL,
            entry="f",
            arguments="()",
            module="changing",
            path=str(tmp_path / name),
            source="t",
        )
        record_job([program], tmp_path / f"runs-{name}", runner=LocalPool(1), settings=OPEN, size=1)
    found = deduplicate([tmp_path / "runs-a", tmp_path / "runs-b"], tmp_path / "out")
    assert (found.kept, found.dropped) == (2, {})


def calls_in_modules(folder: Path) -> Path:
    """As tests leave them: no code of their own, the modules that ran as sources."""
    shop = {"shop/words.py": LONG, "shop/tools.py": "def keep(word):\n    return word[:1] != '_'\n"}
    words = {"shop/words.py": LONG}
    renamed = {"other/words.py": LONG.replace("total", "s")}
    with Writer(folder) as writer:
        for id_, module, arguments, sources in (
            ("first", "shop.words", "([1],)", words),
            ("with tools", "shop.words", "([2],)", shop),
            ("tools", "shop.tools", "('a',)", {"shop/tools.py": shop["shop/tools.py"]}),
            ("renamed", "other.words", "([1],)", renamed),
            ("elsewhere", "shop.made", "()", {"shop/gone.py": "x = 1\n"}),
        ):
            program = Program(id=id_, code="", mode=Mode.CALL, entry="f", arguments=arguments, module=module)
            with writer.begin(program) as spool:
                spool.finish(
                    RunResult(outcome=Outcome.RETURNED, sources=sources),
                    Environment.here(tracer="none", hash_seed=None, packages={}),
                )
    return folder


def test_the_program_of_a_call_in_a_test_is_the_file_of_its_function(tmp_path: Path) -> None:
    """It has no code of its own; what else ran with it makes it no other program."""
    found = deduplicate([calls_in_modules(tmp_path / "runs")], tmp_path / "out")
    assert (found.kept, found.programs) == (5, 4)


@BY_SKETCHES
def test_near_copies_among_calls_in_tests(tmp_path: Path) -> None:
    """Files are compared, as the code of other programs is; calls into one file are no copies of each other."""
    found = deduplicate([calls_in_modules(tmp_path / "runs")], tmp_path / "out", near=0.6)
    assert found.to_dict() == {"recordings": 5, "kept": 4, "programs": 3, "dropped": {SAME_PROGRAM: 1}}
    assert listed(tmp_path / "out") == {"renamed": ("first", SAME_PROGRAM)}


@BY_SKETCHES
def test_near_copies_go(folders: list[Path], tmp_path: Path) -> None:
    """What is the same but for names, and what shares enough, with all its runs; what shares less stays."""
    found = deduplicate(folders, tmp_path / "out", near=0.6)
    assert {r.id for r in Recordings(tmp_path / "out")} == {"first", "other input", "unlike", "new"}
    gone = listed(tmp_path / "out")
    assert {(id_, why) for id_, (_, why) in gone.items()} == {
        ("again", SAME_RUN),
        ("unlike again", SAME_RUN),
        ("renamed", SAME_PROGRAM),
        ("one line more", NEAR),
    }
    assert found.programs == 2
    strict = deduplicate(folders, tmp_path / "strict", near=1.0)
    assert strict.dropped == {SAME_RUN: 2, SAME_PROGRAM: 1}


def pairs() -> Iterator[tuple[str, str, float]]:
    """Generated programs, each with one that lacks some of its lines, and what they share, counted exactly."""
    for n, program in enumerate(generated("40,seed=5")):
        lines = program.code.splitlines(keepends=True)
        other = "".join([*lines[: len(lines) - 1 - n % 3], "    return 0\n"])
        ours, theirs = grams_of(tokens_of(program.code)), grams_of(tokens_of(other))
        yield program.code, other, len(ours & theirs) / len(ours | theirs)


@BY_SKETCHES
def test_candidates_are_found_and_counted_exactly() -> None:
    """Of pairs that share the asked for, nine of ten and more are found (sketches may miss some); of the others
    none is taken for a copy."""
    near = missed = 0
    for code, other, share in pairs():
        copies = NearCopies(0.5)
        assert copies.add(code) is None
        found = copies.add(other)
        if found is None:
            missed += share >= 0.5
        else:
            assert found[0] == 0
            assert found[1] == pytest.approx(share)
            assert share >= 0.5
            near += 1
    assert near > 10
    assert missed <= near / 10


@BY_SKETCHES
@settings(deadline=None, max_examples=examples(30))
@given(
    st.lists(
        st.sampled_from([LONG, LONG.replace("total", "s"), "def f():\n    return 1\n", "x = = ("]), max_size=8
    )
)
def test_what_was_there_is_a_copy(codes: list[str]) -> None:
    """A program that is there already, by whichever names, is a copy of the first that was."""
    copies = NearCopies(1.0)
    kinds: dict[str, int] = {}
    for code in codes:
        known = code.replace("total", "s")
        assert copies.add(code) == ((kinds[known], 1.0) if known in kinds else None)
        kinds.setdefault(known, len(kinds))


@pytest.mark.slow
def test_it_is_whole_or_absent(folders: list[Path], tmp_path: Path) -> None:
    """A folder that is there, one id for two, a share that is none: a word, and nothing is left."""
    other = record_job(
        [call("first", "def f(x):\n    return 7\n")], tmp_path / "c", runner=LocalPool(1), settings=OPEN
    )
    assert other.recorded == 1
    with pytest.raises(InputError, match="two recordings that differ have the id 'first'"):
        deduplicate([folders[0], tmp_path / "c"], tmp_path / "out")
    with pytest.raises(InputError, match="above 0 and up to 1"):
        deduplicate(folders, tmp_path / "out", near=0)
    assert [path.name for path in tmp_path.iterdir()] == ["c"]
    with pytest.raises(InputError, match="exists already"):
        deduplicate(folders, tmp_path / "c")


def test_the_command(folders: list[Path], tmp_path: Path) -> None:
    """`deskcheck runs dedup` says what was left out; as JSON too."""
    told = deskcheck("runs", "dedup", *folders, "--out", "a", cwd=tmp_path).stdout
    assert told.startswith("6 of 8 recordings, of 4 programs, in a\nleft out: 2 the same run\n")
    told = deskcheck("runs", "dedup", *folders, "--out", "b", "--json", cwd=tmp_path).stdout
    assert json.loads(told)["kept"] == 6


@pytest.mark.skipif(
    HERE, reason="datasketch is installed: would have proved that its absence is said with the way out"
)
def test_without_the_extra_it_is_named() -> None:
    """Near copies need the extra; equal runs do not."""
    with pytest.raises(MissingExtra, match=r"pip install 'deskcheck\[scale\]'"):
        NearCopies(0.8)
