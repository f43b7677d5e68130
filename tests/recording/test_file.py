"""The file: what goes in comes out, whatever happens to the process, the disk or the file in between."""

import fcntl
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import deskcheck
from deskcheck.recording import (
    Environment,
    InputError,
    Mode,
    Outcome,
    Program,
    Recording,
    RecordingError,
    Row,
    RunResult,
)
from deskcheck.recording.block import packed, save
from deskcheck.recording.block import rows as block_rows
from deskcheck.recording.reader import Recordings
from deskcheck.recording.schema import EVENTS_SCHEMA, RECORDINGS_SCHEMA
from deskcheck.recording.spool import SpooledBlocks, _events_in_python, _signed, events_of
from deskcheck.recording.writer import Writer
from tests.recording import told
from tests.sample import examples, spread

SOURCE_FOLDER = Path(deskcheck.__file__).parents[1]

ENVIRONMENT = Environment(
    python="3.12.1",
    implementation="cpython",
    platform="linux-x86_64",
    hash_seed=0,
    deskcheck=deskcheck.__version__,
    tracer="reference",
)


def row(index: int, **changes: Any) -> Row:
    plain = Row(0, index, "line", 0, "f", "program.py", 2, 4, '{"a": 1}', *[None] * 7)
    return plain._replace(**changes)


def program(id_: str, **changes: Any) -> Program:
    return Program(id=id_, **{"code": "a = 1\n", **changes})


def record(
    writer: Writer, id_: str, rows: int | list[Row] = 3, run_result: RunResult | None = None, **changes: Any
) -> None:
    spool = writer.begin(program(id_, **changes))
    for one in rows if isinstance(rows, list) else map(row, range(rows)):
        spool.write(json.dumps(one))
    spool.finish(run_result or RunResult(outcome=Outcome.RETURNED), ENVIRONMENT)


def rows_by_id(recordings: Recordings) -> dict[str, list[Row]]:
    return {one.id: list(one.trace.rows) for one in recordings}


def run_child(script: str, *arguments: object, **options: Any) -> "subprocess.CompletedProcess[str]":
    """Run a script in a process of its own, with this module's helpers at hand."""
    return subprocess.run(child_command(script, *arguments), capture_output=True, text=True, **options)


def child_command(script: str, *arguments: object) -> list[str]:
    start = f"import sys; sys.path[:0] = [{str(SOURCE_FOLDER)!r}, {str(Path(__file__).parent)!r}]\n"
    return [sys.executable, "-c", start + CHILD_HELPERS + script, *map(str, arguments)]


CHILD_HELPERS = f"""
import json, os, time
from deskcheck.recording import RunResult, Environment, Outcome, Program, RecordingError, Row
from deskcheck.recording.reader import Recordings
from deskcheck.recording.writer import Writer
ENVIRONMENT = Environment.from_dict({ENVIRONMENT.to_dict()!r})
def record(writer, id_, rows=3, text='{{"a": 1}}'):
    spool = writer.begin(Program(id=id_, code="a = 1"))
    for i in range(rows):
        spool.write(json.dumps([0, i, "line", 0, "f", "program.py", 2, 4, text] + [None] * 8))
    spool.finish(RunResult(outcome=Outcome.RETURNED), ENVIRONMENT)
folder = sys.argv[1]
"""


# ---------------------------------------------------------------------------------------------------
# What goes in comes out
# ---------------------------------------------------------------------------------------------------

texts = st.text(max_size=20)
maybe_texts = st.none() | texts
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(texts, inside, max_size=3),
    max_leaves=5,
)
int32s = st.integers(-(2**31), 2**31 - 1)
names = st.dictionaries(texts, texts, max_size=2)


BY_TYPE: dict[Any, st.SearchStrategy[Any]] = {
    str: texts,
    str | None: maybe_texts,
    bool: st.booleans(),
    int | None: st.none() | int32s,
    float | None: st.none() | st.floats(allow_nan=False),
    dict[str, str]: names,
}


def any_of(kind: Any, **strategies: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Instances of a data class, with fields of any values."""
    by_name = {field.name: BY_TYPE[field.type] for field in fields(kind) if field.type in BY_TYPE}
    return st.builds(kind, **(by_name | strategies))


programs = any_of(
    Program,
    id=st.text(min_size=1),
    mode=st.sampled_from(Mode),
    entry=texts,
    arguments=texts,
    extra=st.dictionaries(texts, json_values, max_size=3),
)
endings = any_of(
    RunResult,
    outcome=st.sampled_from(Outcome),
    refused=st.none() | st.dictionaries(texts, st.integers(0, 2**53), max_size=2),
    files=st.just({}),
)
environments = any_of(Environment)
runs = st.tuples(programs, told.rows(most=4), endings, environments, st.none() | st.booleans(), maybe_texts)


@given(
    st.lists(runs, max_size=4, unique_by=lambda run: run[0].id),
    st.integers(1, 3),
    st.integers(1, 5),
    st.integers(1, 7),
)
@settings(max_examples=examples(20), deadline=None)
def test_what_is_written_is_read(
    written: list[Any], shard_recordings: int, batch_rows: int, group_rows: int
) -> None:
    """Whatever is recorded, and however it falls into batches, row groups and shards, is read back equal."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("deskcheck.recording.spool._ROWS", batch_rows)
        patch.setattr("deskcheck.recording.writer._GROUP_ROWS", group_rows)
        patch.setattr("deskcheck.recording.reader._PAGE_ROWS", 2)
        with Writer(folder, shard_recordings=shard_recordings) as writer:
            for one, rows, run_result, environment, repeatable, difference in written:
                spool = writer.begin(one)
                for event in rows:
                    spool.write(json.dumps(event, ensure_ascii=False))
                spool.finish(run_result, environment, repeatable=repeatable, difference=difference)
        if not written:
            return
        recordings = Recordings(folder)
        assert recordings.ids == tuple(run[0].id for run in written)
        assert len(recordings) == len(written)
        for recording, (one, rows, run_result, environment, repeatable, difference) in zip(
            recordings, written, strict=True
        ):
            assert recording.program == one
            assert recording.run_result == run_result
            assert recording.environment == environment
            assert (recording.repeatable, recording.difference) == (repeatable, difference)
            for trace in recording.traces:
                expected = [event for event in rows if event.thread == trace.thread]
                assert list(trace.rows) == expected
                assert [trace.rows[i] for i in range(-len(expected), len(expected))] == expected * 2
                assert trace.rows[1:-1] == expected[1:-1]
                assert trace.cut == run_result.cut
            assert sum(map(len, recording.traces)) == len(rows)


def test_events_give_their_state(tmp_path: Path) -> None:
    """A trace read from the file adds up like one in memory, by index and by iteration."""
    changes = [f'{{"a": {n}}}' for n in range(5000)]
    with Writer(tmp_path) as writer:
        record(writer, "count", [row(n, locals=text) for n, text in enumerate(changes)])
    trace = Recordings(tmp_path)["count"].trace
    assert trace[4321].locals["a"].atom == 4321
    assert trace[17].locals["a"].atom == 17
    assert [event.locals["a"].atom for event in trace] == list(range(5000))
    with pytest.raises(IndexError, match="5000 events; there is none at 5000"):
        trace[5000]


def test_lone_surrogates_are_spelled_out(tmp_path: Path) -> None:
    """A program may print what UTF-8 cannot say: it is kept as Python shows it on standard error."""
    rows = [row(0, locals='{"a": "\udcff"}', output="x\udcff"), row(1, output="é\ud800")]
    with Writer(tmp_path) as writer:
        spool = writer.begin(program("p"))
        spool.write(json.dumps(rows[0], ensure_ascii=False))
        spool.write(json.dumps(rows[1]).encode())
        spool.finish(
            RunResult(outcome=Outcome.RETURNED, stdout="\udcff", sources={"a": "\udcff"}), ENVIRONMENT
        )
    recording = Recordings(tmp_path)["p"]
    assert recording.trace.rows[0].output == r"x\udcff"
    assert recording.trace.rows[1].output == r"é\ud800"
    assert json.loads(recording.trace.rows[0].locals or "") == {"a": "\udcff"}
    assert recording.run_result.stdout == r"\udcff"
    assert recording.run_result.sources == {"a": "\udcff"}


def test_result_value(tmp_path: Path) -> None:
    """The result of a call is the value of its frame's return, with the objects that it refers to."""
    call = {"mode": Mode.CALL, "entry": "f", "arguments": "()"}
    made = row(1, objects='{"3": {"kind": "list", "type": "list", "items": [1, 2], "length": 2}}')
    end = row(2, kind="return", value='{"ref": 3}')
    returned = RunResult(outcome=Outcome.RETURNED, result="[1, 2]", result_builtin=True)
    seven = RunResult(outcome=Outcome.RETURNED, result="7", result_builtin=True)
    with Writer(tmp_path) as writer:
        record(writer, "list", [row(0), made, end], returned, **call)
        record(writer, "atom", [row(0, kind="return", value="7")], seven, **call)
        record(writer, "decorated", [row(0, kind="return", value="8")], seven, **call)
        record(writer, "cut", [row(0), made], returned, **call)
        record(writer, "nothing", [], returned, **call)
        record(writer, "module", [row(0), made, end], returned)
        record(writer, "raised", [row(0), made, end], RunResult(outcome=Outcome.RAISED), **call)
    recordings = Recordings(tmp_path)
    assert repr(recordings["list"].result_value) == "[1, 2]"
    assert repr(recordings["atom"].result_value) == "7"
    unknown = ("decorated", "cut", "nothing", "module", "raised")
    assert [recordings[id_].result_value for id_ in unknown] == [None] * 5


def test_many_writers_of_one_folder(tmp_path: Path) -> None:
    """Threads record side by side, several recordings open at once, and readers share one `Recordings`."""
    with Writer(tmp_path, shard_recordings=7) as writer:

        def work(number: int) -> None:
            for turn in range(10):
                spools = [writer.begin(program(f"{number}-{turn}-{twin}")) for twin in range(2)]
                for index in range(20):
                    for spool in spools:
                        spool.write(json.dumps(row(index, output=spool.id)))
                for spool in spools:
                    spool.finish(RunResult(outcome=Outcome.RETURNED), ENVIRONMENT)

        run_threads(work, 4)
    recordings = Recordings(tmp_path)
    assert sorted(recordings.ids) == sorted(
        f"{n}-{t}-{w}" for n in range(4) for t in range(10) for w in (0, 1)
    )
    seen: list[int] = []

    def check(_: int) -> None:
        for one in recordings:
            assert [event.output for event in one.trace.rows] == [one.id] * 20
            seen.append(1)

    run_threads(check, 4)
    assert len(seen) == 4 * 80


def run_threads(work: Any, count: int) -> None:
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_shards_fill_by_recordings_and_by_events(tmp_path: Path) -> None:
    """A shard ends at whichever limit is reached first, and the folder holds shards and nothing else."""
    with Writer(tmp_path, shard_recordings=3, shard_events=10) as writer:
        for number in range(4):
            record(writer, f"small{number}", 1)
        record(writer, "large", 12)
        record(writer, "last", 1)
    sizes = [pq.read_metadata(path).num_rows for path in sorted(tmp_path.glob("recordings-*"))]
    assert sizes == [3, 2, 1]
    assert sorted(os.listdir(tmp_path)) == [
        f"{t}-0000{n}.parquet" for t in ("events", "recordings") for n in range(3)
    ]


def test_row_groups_are_bounded_in_bytes(tmp_path: Path) -> None:
    """Events with a lot of text make smaller row groups, so that none is too large to decode."""
    with Writer(tmp_path) as writer:
        record(writer, "p", [row(n, locals=json.dumps({"a": "x" * 2_000_000})) for n in range(20)])
    metadata = pq.read_metadata(tmp_path / "events-00000.parquet")
    assert metadata.num_row_groups > 1
    assert len(list(Recordings(tmp_path)["p"].trace.rows)) == 20


# ---------------------------------------------------------------------------------------------------
# What is refused
# ---------------------------------------------------------------------------------------------------

GOOD = list(row(0))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not.* JSON"),
        ("[0, 0", "not.* JSON"),
        (b"\xff\xff", "not.* JSON"),
        ("[" * 100_000, "not.* JSON"),
        ("9" * 10_000, "not.* JSON"),
        ("{}", "not the 17 fields"),
        (json.dumps(GOOD[:-1]), "not the 17 fields"),
        (json.dumps([*GOOD, None]), "not the 17 fields"),
        (json.dumps([True, *GOOD[1:]]), "its thread is not in 0..9999"),
        (json.dumps([None, *GOOD[1:]]), "its thread is not in 0..9999"),
        (json.dumps([*GOOD[:8], {"a": 1}, *GOOD[9:]]), "a column is not text"),
        (json.dumps(row(0, kind="loop")), "its kind is unknown"),
        (json.dumps(row(0, thread=-1)), "its thread is not in 0..9999"),
        (json.dumps(row(0, thread=10**400)), "its thread is not in 0..9999"),
        (json.dumps(row(3)), "the next event of thread 0 should have index 0"),
        (json.dumps(row(0, line=2**31)), "its line is not a number"),
        (json.dumps(row(0, locals="{")), "locals: "),
        (json.dumps(row(0, locals="[" * 100_000)), "locals: "),
        (json.dumps(row(0, value='{"ref": 5}')), "it refers to #5, which is unknown"),
        (
            json.dumps(row(0, objects='{"5": {"splice": [0, 0, []]}}')),
            "objects: a change of an unknown object",
        ),
    ],
)
def test_what_is_no_event_is_refused(tmp_path: Path, text: str | bytes, reason: str) -> None:
    """A line that is no event is named and left out; what came before it can be finished."""
    with Writer(tmp_path) as writer:
        spool = writer.begin(program("p"))
        with pytest.raises(RecordingError, match=f"recording 'p', event 0 is not valid: {reason}"):
            spool.write(text)
        spool.write(json.dumps(row(0)))
        spool.finish(RunResult(outcome=Outcome.KILLED, cut="damaged"), ENVIRONMENT)
    assert list(Recordings(tmp_path)["p"].trace.rows) == [row(0)]


def test_an_id_is_recorded_once(tmp_path: Path) -> None:
    """An id that is recorded or being recorded is refused; one that was abandoned is not."""
    with Writer(tmp_path) as writer:
        record(writer, "a")
        assert writer.done == {"a"}
        with pytest.raises(InputError, match="'a' is recorded already"):
            writer.begin(program("a"))
        with writer.begin(program("b")), pytest.raises(InputError, match="'b' is being recorded"):
            writer.begin(program("b"))
        record(writer, "b")
    with Writer(tmp_path) as writer:
        assert writer.done == {"a", "b"}
    assert Recordings(tmp_path).ids == ("a", "b")


@pytest.mark.parametrize(
    "bad",
    [
        {"id": ""},
        {"id": "\ud800"},
        {"code": "a = '\udcff'"},
        {"extra": {"a": {1, 2}}},
        {"extra": {"a": float("nan")}},
        {"licence": 3},
        {"train_ok": None},
    ],
)
def test_programs_that_cannot_be_saved(tmp_path: Path, bad: dict[str, Any]) -> None:
    """A program with a field that the file cannot hold is refused before it is run."""
    with Writer(tmp_path) as writer:
        with pytest.raises(InputError, match="program"):
            writer.begin(Program(**{"id": "p", "code": "", **bad}))
        record(writer, "good")
    assert Recordings(tmp_path).ids == ("good",)


def test_a_bad_ending_can_be_mended(tmp_path: Path) -> None:
    """An ending that the file cannot hold is refused, and the recording is still there for a better one."""
    with Writer(tmp_path) as writer:
        spool = writer.begin(program("p"))
        spool.write(json.dumps(row(0)))
        with pytest.raises(InputError, match=r"recording of 'p': exit_status=.* cannot be saved"):
            spool.finish(RunResult(outcome=Outcome.EXITED, exit_status=10**30), ENVIRONMENT)
        spool.finish(RunResult(outcome=Outcome.EXITED, exit_status=1), ENVIRONMENT)
        with pytest.raises(RecordingError, match="'p' is finished"):
            spool.write(json.dumps(row(1)))
    with pytest.raises(RecordingError, match="closed"):
        writer.begin(program("q"))
    assert Recordings(tmp_path)["p"].run_result.exit_status == 1


def test_options_are_checked(tmp_path: Path) -> None:
    """A shard of no recordings is refused, with the value."""
    with pytest.raises(InputError, match="shard_recordings=0 must be at least 1"):
        Writer(tmp_path, shard_recordings=0)


def test_an_unknown_id_names_its_neighbours(tmp_path: Path) -> None:
    """Asking for an id that is not there shows those it may have been meant for."""
    with Writer(tmp_path) as writer:
        record(writer, "sample_12")
    recordings = Recordings(tmp_path)
    assert "sample_12" in recordings
    assert "sample_13" not in recordings
    with pytest.raises(InputError, match=r"no recording 'sample_13' among 1\. Close to it: 'sample_12'"):
        recordings["sample_13"]


# ---------------------------------------------------------------------------------------------------
# Whatever happens to the process
# ---------------------------------------------------------------------------------------------------


def test_ctrl_c_keeps_what_is_finished(tmp_path: Path) -> None:
    """Ctrl-C closes the writer: the finished are in a shard, the unfinished gone."""

    def interrupted() -> None:
        with Writer(tmp_path) as writer:
            record(writer, "finished")
            spool = writer.begin(program("unfinished"))
            spool.write(json.dumps(row(0)))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert Recordings(tmp_path).ids == ("finished",)
    assert sorted(os.listdir(tmp_path)) == ["events-00000.parquet", "recordings-00000.parquet"]


EXIT_AT_EVERY_FILE_OPERATION = """
WATCHED = ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate")
def attempt(target, die_at):
    '''Record six programs; die without a word just before the given file operation. True: lived through.'''
    pid = os.fork()
    if pid == 0:
        calls = 0
        def hook(event, args):
            nonlocal calls
            if event in WATCHED and str(args[0]).startswith(target):
                calls += 1
                if calls > die_at:
                    os._exit(42)
        sys.addaudithook(hook)
        with Writer(target, shard_recordings=2) as writer:
            for n in range(6):
                if f"p{n}" not in writer.done:
                    record(writer, f"p{n}", n)
                    os.write(out, f"p{n} ".encode())
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status in (0, 42), status
    return status == 0

def check(target):
    recordings = Recordings(target)
    assert sorted(recordings.ids) == [f"p{n}" for n in range(6)], recordings.ids
    assert [len(r.trace) for r in sorted(recordings, key=lambda r: r.id)] == list(range(6))
    kinds = [name.split("-")[0] for name in sorted(os.listdir(target))]
    assert kinds == ["events"] * 3 + ["recordings"] * 3, os.listdir(target)

second = int(sys.argv[2])
first = 0
deaths = 0
while True:
    target = f"{folder}/{first}"
    reader, out = os.pipe()
    lived = attempt(target, first)
    if not lived and second:
        attempt(target, second)   # dies again while it recovers, or a little later
    os.close(out)
    finished = set(os.read(reader, 1000).decode().split())
    os.close(reader)
    if lived:
        break
    deaths += 1
    try:
        whole = list(Recordings(target))
        assert [len(r.trace) for r in whole] == [int(r.id[1:]) for r in whole]
    except RecordingError as error:
        assert "has no recordings" in str(error) or "does not exist" in str(error), error
    if not os.path.exists(target):
        os.mkdir(target)
    writer = Writer(target, shard_recordings=2)
    assert finished <= writer.done, (first, finished, writer.done)
    for n in range(6):
        if f"p{n}" not in writer.done:
            record(writer, f"p{n}", n)
    writer.close()
    check(target)
    first += 1
check(target)
print(deaths)
"""


@pytest.mark.parametrize("second", spread([0, 3, 5, 8, 12], 5, 4))
@pytest.mark.slow
def test_death_before_any_file_operation(tmp_path: Path, second: int) -> None:
    """Wherever a writer dies, and where the next dies while it recovers, everything finished is kept,
    nothing is twice, and the folder ends up with whole shards alone."""
    done = run_child(EXIT_AT_EVERY_FILE_OPERATION, tmp_path, second)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 40


KILLED_AT_RANDOM = """
with Writer(folder, shard_recordings=5) as writer:
    for n in range(100_000):
        if f"p{n}" not in writer.done:
            record(writer, f"p{n}", n % 50)
            print(f"p{n}", flush=True)
"""


@pytest.mark.slow
def test_kill_at_random_moments(tmp_path: Path) -> None:
    """What a writer said is finished is still there after kill -9, once, whenever that struck."""
    finished: set[str] = set()
    for delay_s in (0.0, 0.013, 0.07, 0.151, 0.3):
        process = subprocess.Popen(
            child_command(KILLED_AT_RANDOM, tmp_path), stdout=subprocess.PIPE, text=True, bufsize=1
        )
        assert process.stdout is not None
        finished.add(process.stdout.readline().strip())
        time.sleep(delay_s)  # a moment to strike at, not one to wait for
        process.send_signal(signal.SIGKILL)
        finished.update(line.strip() for line in process.stdout if line.endswith("\n"))
        process.stdout.close()
        process.wait()
    with Writer(tmp_path) as writer:
        assert finished <= writer.done
    recordings = Recordings(tmp_path)
    assert finished <= set(recordings.ids)
    assert len(set(recordings.ids)) == len(recordings) == len(list(recordings))
    for one in recordings:
        assert list(one.trace.rows) == [row(n) for n in range(int(one.id[1:]) % 50)]


def test_what_a_killed_writer_finished_is_announced(tmp_path: Path) -> None:
    """A reader of a folder whose writer was killed says what is missing and how to have it."""
    script = "w = Writer(folder); record(w, 'a'); os._exit(9)"
    assert run_child(script, tmp_path).returncode == 9
    with pytest.raises(RecordingError, match=r"has no recordings\. 1 more are finished in"):
        Recordings(tmp_path)
    with Writer(tmp_path) as writer:
        record(writer, "b")
    run_child(script.replace("'a'", "'c'"), tmp_path)
    assert Recordings(tmp_path).waiting == ("c",)
    Writer(tmp_path).close()
    assert Recordings(tmp_path).ids == ("a", "b", "c")
    assert Recordings(tmp_path).waiting == ()


def test_two_writers(tmp_path: Path) -> None:
    """A second writer is told who has the folder: another process, or this one."""
    script = "w = Writer(folder); print(os.getpid(), flush=True); sys.stdin.read()"
    process = subprocess.Popen(
        child_command(script, tmp_path), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        pid = process.stdout.readline().strip()
        with pytest.raises(RecordingError, match=f"process {pid} on .* is writing here.*Wait for it, end it"):
            Writer(tmp_path)
        process.kill()
    with Writer(tmp_path), pytest.raises(RecordingError, match=rf"this process \({os.getpid()}\) is writing"):
        Writer(tmp_path)
    with Writer(tmp_path) as writer:
        record(writer, "a")
    assert Recordings(tmp_path).ids == ("a",)


def test_a_lock_file_that_its_holder_deletes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that opened the lock file just before its holder deleted it locks the new one instead."""
    real = fcntl.lockf
    deleted: list[Path] = []

    def delete_first(fd: int, operation: int) -> None:
        if not deleted:
            deleted.append(tmp_path / ".lock")
            deleted[0].unlink()
        real(fd, operation)

    monkeypatch.setattr(fcntl, "lockf", delete_first)
    with Writer(tmp_path):
        assert (tmp_path / ".lock").read_text().startswith(f"process {os.getpid()} on ")
    assert deleted


def test_no_threads_are_left_behind(tmp_path: Path) -> None:
    """Writing and reading start no threads, so that the process can still fork."""
    script = """
threads = set(os.listdir("/proc/self/task"))
with Writer(folder, shard_recordings=2) as writer:
    for n in range(4):
        record(writer, f"p{n}", 5000)
assert sum(len(list(one.trace)) for one in Recordings(folder)) == 20_000
assert set(os.listdir("/proc/self/task")) == threads
"""
    done = run_child(script, tmp_path)
    assert done.returncode == 0, done.stderr


def test_forks_of_a_writer_do_no_harm(tmp_path: Path) -> None:
    """A fork that outlives a killed writer does not keep the folder; one that leaves the with block
    closes nothing of its parent's."""
    script = """
with Writer(folder) as writer:
    record(writer, "a")
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
        record(writer, "b")
        assert os.path.exists(f"{folder}/.lock")
os.fork() or time.sleep(60)
""".replace("os.fork() or", "if not pid: os._exit(0)\n")
    assert (done := run_child(script.split("if not pid")[0], tmp_path)).returncode == 0, done.stderr
    assert Recordings(tmp_path).ids == ("a", "b")
    orphan = """
writer = Writer(folder)
pid = os.fork()
if pid == 0:
    time.sleep(60)
os.write(1, str(pid).encode())
os.kill(os.getpid(), 9)
"""
    read, write = os.pipe()
    subprocess.run(child_command(orphan, tmp_path), stdout=write, check=False)
    os.close(write)
    pid = int(os.read(read, 100))
    os.close(read)
    try:
        Writer(tmp_path).close()
    finally:
        os.kill(pid, signal.SIGKILL)


# ---------------------------------------------------------------------------------------------------
# Whatever happens to the disk
# ---------------------------------------------------------------------------------------------------


def test_a_file_where_a_folder_is_needed(tmp_path: Path) -> None:
    """A folder that is a file, or lies under one, is refused with a way out, by writer and reader."""
    file = tmp_path / "file"
    file.write_text("")
    for place in (file, file / "under"):
        with pytest.raises(RecordingError, match="There is a file in the place of a folder") as caught:
            Writer(place)
        assert caught.value.path == str(place)
    with pytest.raises(RecordingError, match="is a file; `deskcheck record"):
        Recordings(file)
    with pytest.raises(RecordingError, match="does not exist"):
        Recordings(tmp_path / "nowhere")
    with pytest.raises(RecordingError, match="has no recordings"):
        Recordings(tmp_path)


def test_a_folder_that_may_not_be_written_to() -> None:
    """Without the permission to write, the error says so; root gives its rights up to be refused."""
    folder = tempfile.mkdtemp()
    try:
        os.chmod(folder, 0o555)
        script = """
os.setuid(65534) if os.getuid() == 0 else None
for place in (folder, folder + "/new"):
    try:
        Writer(place)
    except RecordingError as error:
        print(error)
"""
        done = run_child(script, folder)
        assert done.stdout.count("Permission denied. Choose a folder that you may write to") == 2, done
    finally:
        os.rmdir(folder)


FILL_THE_DISK = """
noise = os.urandom(50_000).hex()
writer = Writer(folder, shard_recordings=1000)
finished = []
try:
    for n in range(1000):
        record(writer, f"p{n}", n % 10, json.dumps({"a": noise[n * 37:]}))
        finished.append(f"p{n}")
except RecordingError as error:
    print(error)
    assert error.path
    assert writer.done == set(finished)
else:
    sys.exit("the disk was never full")
try:
    writer.close()
except RecordingError as error:
    print(error)
"""


def test_a_full_disk(tmp_path: Path) -> None:
    """A disk that fills up is named with the way out, and everything finished before is kept."""
    script = (
        FILL_THE_DISK
        + """
copy = sys.argv[2]
import shutil; shutil.copytree(folder, copy, dirs_exist_ok=True)
writer = Writer(copy)
assert writer.done == set(finished), writer.done
writer.close()
recordings = Recordings(copy)
assert sorted(recordings.ids) == sorted(finished)
for one in recordings:
    assert len(list(one.trace.rows)) == int(one.id[1:]) % 10
print(len(finished), "kept")
"""
    )
    disk, copy = tmp_path / "disk", tmp_path / "copy"
    disk.mkdir()
    mount = ["unshare", "-Urm", "sh", "-c", 'mount -t tmpfs -o size=4m none "$0" && exec "$@"', str(disk)]
    try:
        can = subprocess.run([*mount, "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        can = False
    if not can:
        pytest.skip("needs a small disk of its own (unshare -Urm): would show that a full one loses nothing")
    done = subprocess.run(
        [*mount, *child_command(script, disk / "runs", copy)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "No space left on device. The disk is full: free some space" in done.stdout
    assert "kept" in done.stdout


def test_a_limit_on_file_size(tmp_path: Path) -> None:
    """A shard that may not grow to its size fails with the way out; the recordings in it are kept."""
    script = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
writer = Writer(folder)
for n in range(10):
    record(writer, f"p{n}", 2, json.dumps({"a": os.urandom(50_000).hex()}))
try:
    writer.close()
except RecordingError as error:
    print(error)
assert not os.path.exists(folder + "/.lock")
assert not [name for name in os.listdir(folder) if name.endswith(".parquet")]
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
Writer(folder).close()
assert len(Recordings(folder)) == 10
"""
    done = run_child(script, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "File too large. The limit on file size is reached: raise it" in done.stdout


def test_a_shard_that_fails_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shard that fails half way leaves no half, and its recordings are in the next one."""
    real = os.replace

    def fail(source: Path, target: Path) -> None:
        if target.name == "recordings-00000.parquet":
            raise OSError(28, os.strerror(28))
        real(source, target)

    with Writer(tmp_path, shard_recordings=2) as writer:
        record(writer, "a")
        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", fail)
            with pytest.raises(RecordingError, match="cannot write this shard: No space left on device"):
                record(writer, "b")
        assert writer.done == {"a", "b"}
        assert [name for name in os.listdir(tmp_path) if name.endswith(".parquet")] == []
        record(writer, "c")
    assert Recordings(tmp_path).ids == ("a", "b", "c")
    assert len(list(tmp_path.glob("recordings-*"))) == 2


def test_a_failed_close_does_not_hide_what_came_before(tmp_path: Path) -> None:
    """An error in the with block is what the user sees; that closing failed too is a note on it."""
    script = """
import resource
try:
    with Writer(folder) as writer:
        for n in range(10):
            record(writer, f"p{n}", 2, json.dumps({"a": os.urandom(50_000).hex()}))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
        raise KeyboardInterrupt
except KeyboardInterrupt as error:
    print(error.__notes__)
"""
    done = run_child(script, tmp_path)
    assert "Closing the recordings failed too" in done.stdout, done.stderr


# ---------------------------------------------------------------------------------------------------
# Whatever happens to the file
# ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def three_shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("three")
    with Writer(folder, shard_recordings=2) as writer:
        for number in range(6):
            record(writer, f"p{number}", number * 3)
    return folder


@pytest.fixture
def copied(three_shards: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(three_shards, tmp_path / "copy"))


@given(
    st.sampled_from([f"{table}-0000{n}.parquet" for table in ("events", "recordings") for n in range(3)]),
    st.floats(0, 1, exclude_max=True),
)
@settings(
    max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_file_cut_at_any_byte(three_shards: Path, name: str, where: float) -> None:
    """A file cut anywhere is a clean error; with allow_truncated the other shards are read, whole."""
    with tempfile.TemporaryDirectory() as folder:
        for path in three_shards.iterdir():
            shutil.copy(path, folder)
        cut = Path(folder) / name
        size = int(cut.stat().st_size * where)
        os.truncate(cut, size)
        with pytest.raises(
            RecordingError, match=rf"{name}: cut off after {size} bytes.*allow_truncated=True"
        ):
            Recordings(folder)
        with pytest.raises(RecordingError, match="cut off"):
            Writer(folder)
        recordings = Recordings(folder, allow_truncated=True)
        number = int(name[-9:-8])
        assert rows_by_id(recordings) == {
            f"p{n}": [row(i) for i in range(n * 3)] for n in range(6) if n // 2 != number
        }
        assert [error.path for error in recordings.damaged] == [str(cut)]


def test_a_changed_byte(three_shards: Path) -> None:
    """A byte that changed among the events is an error or, in a place without meaning, changes nothing."""
    name = "events-00002.parquet"
    whole = (three_shards / name).read_bytes()
    expected = rows_by_id(Recordings(three_shards))
    caught = 0
    for at in range(4, 400, 7):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(three_shards, folder, dirs_exist_ok=True)
            (Path(folder) / name).write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
            try:
                found = rows_by_id(Recordings(folder))
            except RecordingError:
                caught += 1
            else:
                assert found == expected
    assert caught > 20


def test_a_missing_partner(copied: Path) -> None:
    """Half a shard is an error, whichever half it is, and no reason to delete the other half."""
    for table, partner in (("events", "recordings"), ("recordings", "events")):
        (copied / f"{table}-00001.parquet").rename(copied / "away")
        with pytest.raises(RecordingError, match=f"{table}-00001.parquet: missing"):
            Recordings(copied)
        with pytest.raises(RecordingError, match="missing"):
            Writer(copied)
        assert (copied / f"{partner}-00001.parquet").exists()
        assert Recordings(copied, allow_truncated=True).ids == ("p0", "p1", "p4", "p5")
        (copied / "away").rename(copied / f"{table}-00001.parquet")
    assert len(Recordings(copied)) == 6


def test_foreign_files(copied: Path) -> None:
    """Files that are none of ours are called that; other names in the folder do not matter."""
    (copied / "notes.txt").write_text("mine")
    (copied / "model.parquet").write_text("mine")
    assert len(Recordings(copied)) == 6
    path = copied / "recordings-00001.parquet"
    path.write_text("not a table at all, but long enough")
    with pytest.raises(RecordingError, match="not a Parquet file: it does not begin with PAR1"):
        Recordings(copied, allow_truncated=True)
    pq.write_table(pa.table({"id": ["p2", "p3"]}), path)
    with pytest.raises(RecordingError, match="a Parquet file without recordings"):
        Recordings(copied)
    pq.write_table(pa.table({"id": ["p2"]}).replace_schema_metadata({"deskcheck.format": "1"}), path)
    with pytest.raises(RecordingError, match="lacks a column 'code' of type string"):
        Recordings(copied)
    shutil.copy(copied / "recordings-00000.parquet", path)
    with pytest.raises(RecordingError, match="do not belong together"):
        Recordings(copied)
    shutil.copy(copied / "events-00000.parquet", copied / "events-00001.parquet")
    with pytest.raises(RecordingError, match=r"'p0' is in recordings-00000\.parquet too"):
        Recordings(copied)["p0"]


def test_events_of_another_shard(tmp_path: Path) -> None:
    """Events that belong to another recording are not taken for this one's."""
    for name in "ab":
        with Writer(tmp_path / name) as writer:
            record(writer, name)
    shutil.copy(tmp_path / "a" / "events-00000.parquet", tmp_path / "b")
    with pytest.raises(RecordingError, match="row 0 belongs to recording 'a', not 'b'"):
        list(Recordings(tmp_path / "b")["b"].trace)


def test_a_newer_format(copied: Path) -> None:
    """A file of a later version asks for an upgrade."""
    path = copied / "recordings-00002.parquet"
    pq.write_table(pq.read_table(path).replace_schema_metadata({"deskcheck.format": "3"}), path)
    with pytest.raises(RecordingError, match=r"format 3; this version of deskcheck reads up to 2. Upgrade"):
        Recordings(copied, allow_truncated=True)


def test_columns_of_a_later_version_are_ignored(copied: Path) -> None:
    """A column that this version does not know is no reason to refuse the file."""
    for path in copied.glob("*.parquet"):
        table = pq.read_table(path)
        pq.write_table(table.append_column("mood", pa.nulls(len(table), pa.string())), path)
    assert rows_by_id(Recordings(copied)) == {f"p{n}": [row(i) for i in range(n * 3)] for n in range(6)}


def test_columns_that_an_earlier_version_did_not_write(copied: Path) -> None:
    """A file from before there was a column is read; it holds nothing of it."""
    for path in copied.glob("events-*.parquet"):
        pq.write_table(pq.read_table(path).drop_columns(["left_out"]), path)
    for path in copied.glob("recordings-*.parquet"):
        pq.write_table(pq.read_table(path).drop_columns(["refused"]), path)
    recordings = Recordings(copied)
    assert rows_by_id(recordings) == {f"p{n}": [row(i) for i in range(n * 3)] for n in range(6)}
    assert {recording.run_result.refused for recording in recordings} == {None}


# ---------------------------------------------------------------------------------------------------
# Size, and other people's readers
# ---------------------------------------------------------------------------------------------------

A_MILLION_EVENTS = """
def peak_mb():  # of this process since its exec, which ru_maxrss is not
    line = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024
with Writer(folder + "/warm") as writer:
    record(writer, "p")
list(Recordings(folder + "/warm")["p"].trace)
base = peak_mb()
EVENTS = 1_000_000
text = '[0,%d,"line",0,"f","program.py",2,4,%s,null,null,null,null,null,null,null,null]'
with Writer(folder) as writer:
    spool = writer.begin(Program(id="p", code="a = 1"))
    for n in range(EVENTS):
        spool.write(text % (n, json.dumps(json.dumps({"a": n, "b": "x" * (n % 300)}))))
    spool.finish(RunResult(outcome=Outcome.RETURNED), ENVIRONMENT)
written = peak_mb() - base
trace = Recordings(folder)["p"].trace
assert len(trace) == EVENTS
assert sum(event.index for event in trace) == EVENTS * (EVENTS - 1) // 2
assert trace.rows[777_777].index == 777_777
assert trace.rows[-1].index == EVENTS - 1
print(json.dumps({"write": written, "read": peak_mb() - base}))
"""


@pytest.mark.exhaustive
def test_a_million_events_in_flat_memory(tmp_path: Path) -> None:
    """A recording of a million events, over 200 MB of text, is written and read in less than 150 MB."""
    done = run_child(A_MILLION_EVENTS, tmp_path)
    assert done.returncode == 0, done.stderr
    growth = json.loads(done.stdout)
    assert max(growth.values()) < 150, growth


@pytest.fixture(scope="module")
def crux(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crux")
    with Writer(folder, shard_recordings=2) as writer:
        for number in range(3):
            rows = [
                row(0, kind="call", caller='{"frame": 0, "offset": 2}'),
                row(1, output="é\n"),
                row(2, kind="return", value="7"),
            ]
            record(writer, f"p{number}", rows, code=f"f({number})", extra={"n": number}, train_ok=True)
    return folder


def test_pandas_reads_it(crux: Path) -> None:
    """pandas reads the folder's tables without our code."""
    pandas = pytest.importorskip("pandas")
    recordings = pandas.read_parquet(crux / "recordings-00000.parquet")
    assert list(recordings.columns) == RECORDINGS_SCHEMA.names
    assert list(recordings["code"]) == ["f(0)", "f(1)"]
    assert list(recordings["first_row"]) == [0, 3]
    events = pandas.read_parquet(crux / "events-00000.parquet")
    assert list(events["recording"]) == ["p0"] * 3 + ["p1"] * 3
    assert list(events["kind"]) == ["call", "line", "return"] * 2
    assert events["output"][1] == "é\n"
    assert events["output"].isna().sum() == 4
    first = recordings.iloc[1]
    mine = events.iloc[first["first_row"] : first["first_row"] + first["n_events"]]
    assert set(mine["recording"]) == {"p1"}


def test_duckdb_reads_it(crux: Path) -> None:
    """DuckDB joins the tables of all shards, and looks into their JSON."""
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        found = connection.execute(
            f"""
            SELECT r.id, r.extra ->> 'n', r.environment ->> 'python', count(*), max(e.value)
            FROM '{crux}/recordings-*.parquet' r JOIN '{crux}/events-*.parquet' e ON e.recording = r.id
            WHERE r.train_ok AND r.outcome = 'returned' GROUP BY ALL ORDER BY r.id
            """
        ).fetchall()
    assert found == [(f"p{n}", str(n), "3.12.1", 3, "7") for n in range(3)]


def test_datasets_reads_it(crux: Path, tmp_path: Path) -> None:
    """Hugging Face datasets loads the tables from disk, offline."""
    pytest.importorskip("datasets")
    script = """
from datasets import load_dataset
def load(table):
    files = f"{folder}/{table}-*.parquet"
    return load_dataset("parquet", data_files=files, split="train", cache_dir=sys.argv[2])
recordings, events = load("recordings"), load("events")
assert recordings["id"][:] == ["p0", "p1", "p2"], recordings["id"]
assert recordings[1]["hash_seed"] == 0 and recordings[1]["repeatable"] is None
assert len(events) == 9 and events[4]["output"] == "é\\n" and events[5]["value"] == "7"
assert str(events.features["line"].dtype) == "int32"
"""
    environment = {**os.environ, "HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}
    done = run_child(script, crux, tmp_path, env=environment)
    assert done.returncode == 0, done.stderr


def test_a_recording_shows_what_it_is(crux: Path) -> None:
    """Recordings and their folder have a short text."""
    recordings = Recordings(crux)
    assert isinstance(recordings["p0"], Recording)
    assert repr(recordings["p0"]) == "<Recording p0: returned, 3 events>"
    assert repr(recordings) == f"<Recordings {crux}: 3>"


def test_a_spool_of_an_earlier_version_is_taken_over(tmp_path: Path) -> None:
    """Up to 0.1.0 the spool had Arrow streams, at first without the column `left_out`."""
    true = [row(0), row(1, output="x"), row(2, line=-1, value='"\\ud800"')]
    writer = Writer(tmp_path / "killed")
    record(writer, "p", true)
    shutil.copytree(tmp_path / "killed", tmp_path / "taken over")
    writer.close()
    (blocks,) = (tmp_path / "taken over" / ".spool").glob("*.blocks")
    blocks.unlink()
    earlier, fields = blocks.with_suffix(".arrow"), blocks.with_suffix(".json")
    schema = EVENTS_SCHEMA.remove(0).remove(len(Row._fields) - 1)
    with pa.OSFile(str(earlier), "wb") as file, pa.ipc.new_stream(file, schema) as stream:
        stream.write_batch(pa.RecordBatch.from_pylist([one._asdict() for one in true], schema=schema))
    fields.write_text(json.dumps(json.loads(fields.read_text()) | {"events_bytes": earlier.stat().st_size}))
    Writer(tmp_path / "taken over").close()
    assert rows_by_id(Recordings(tmp_path / "taken over")) == {"p": true}
    assert [*(tmp_path / "taken over").glob(".spool/*")] == []


@given(st.lists(told.rows(most=6), max_size=4))
@settings(max_examples=examples(30), deadline=None)
def test_columns_in_c_and_in_python(traces: list[list[Row]]) -> None:
    """Both make the same columns of the same frames; a block in binary form has the rows it was made from."""
    frames = []
    for number, rows in enumerate([*traces, [row(0, output="\ud800\udcff é", left_out="{}")]]):
        block = packed(rows)
        read = [one._replace(line=_signed(one.line), offset=_signed(one.offset)) for one in block_rows(block)]
        assert read == rows
        blocks = io.BytesIO()
        save(block, blocks)
        frames.append((f"recording {number}", SpooledBlocks(len(rows), len(block), blocks.getvalue())))
    compiled, python = (events_of(frames), _events_in_python(frames))
    assert compiled.cast(EVENTS_SCHEMA).to_pylist() == python.cast(EVENTS_SCHEMA).to_pylist()
    assert compiled.validate(full=True) is None
