"""Files of others, mutated: each is read, or refused with a reason, in seconds. Nothing else may happen.

Every reader of text gets real files, small ones, of which a part is changed: bytes, lines, or one value of the
JSON in it. `make test` reads some of each kind, and

    make exhaustive FILES=tests/test_mutated_files.py

a hundred times as many. The seed is the number of the mutant, so that what fails can be made again.
"""

import contextlib
import copy
import importlib.util
import io
import json
import os
import random
import shutil
import signal
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deskcheck import sources
from deskcheck.ask.methods.solvers import read_trace
from deskcheck.ask.questions.lines import answer_in_line, lines_of, sample_in
from deskcheck.bench.project import read_project
from deskcheck.cli.common.configuration import NAME, configuration
from deskcheck.errors import DeskcheckError
from deskcheck.jobs.job_folder import JobFolder
from deskcheck.jobs.manifest import manifest_lines
from deskcheck.jobs.plan import read_plan
from deskcheck.notebook.check.check import compare_with_stored
from deskcheck.notebook.check.sanitise import read_sanitisers
from deskcheck.notebook.trajectory.file import TrajectoryWriter, begun, read_trajectory, write_trajectory
from deskcheck.notebook.trajectory.ipynb import read_notebook
from deskcheck.notebook.trajectory.june import read_june
from deskcheck.notebook.trajectory.lines import cell_lines
from deskcheck.recorder.programs import record_programs
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording import Program
from deskcheck.recording.reader import Recordings
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sources.sets.coding import read_coding_tasks
from deskcheck.sources.text.rows import read_rows
from deskcheck.view.notebook_page import notebook_facts
from deskcheck.view.side_by_side import first_mistake

ROOT = Path(__file__).parent.parent
NOTEBOOKS = ROOT / "examples" / "notebooks"
PATIENCE_S = 30

ODD: list[Any] = [
    *(
        None,
        True,
        False,
        -1,
        0,
        1.5,
        1e999,
        float("nan"),
        10**30,
        -(10**400),
        "",
        "\ud800",
        "x\0y",
        "é" * 300,
    ),
    *(
        [],
        {},
        [[]],
        {"": None},
        ["a", 3, None],
        {"a": {"b": [1, {"c": 2}]}},
        "../../etc/passwd",
        "9" * 5000,
        [1] * 50,
    ),
]
TOKENS = [
    b"\xff",
    b"\0",
    b"1e999",
    b"NaN",
    b"-1",
    b"9" * 5000,
    b"[" * 2000,
    b"{",
    b'"',
    b"\\ud800",
    b"\r",
    b"\n\n",
    b"]]>",
    b"%",
    b"'''",
]


def mutant(data: bytes, seed: int) -> bytes:
    """Another file, made of a file."""
    draw = random.Random(seed)
    if data.startswith(b"PAR1") and draw.random() < 0.6:
        return _of_table(data, draw)
    if draw.random() < 0.6 and (made := _of_json(data, draw)) is not None:
        return made
    for _ in range(draw.choice((1, 1, 1, 3))):
        at, to = sorted(draw.randrange(len(data) + 1) for _ in range(2))
        to = min(to, at + draw.choice((1, 10, 1000)))
        data = draw.choice(
            (
                data[:at],
                data[:at] + data[to:],
                data[:to] + data[at:],
                data[:at] + draw.choice(TOKENS) + data[draw.choice((at, to)) :],
                data[:at] + bytes(draw.randrange(256) for _ in range(min(4, to - at + 1))) + data[to:],
            )
        )
    return data


def _of_json(data: bytes, draw: random.Random) -> bytes | None:
    """The file with other values in one of its JSON texts; None where it has none."""
    lines = data.splitlines()
    whole = not data.endswith(b"}\n") or len(lines) == 1 or lines[0] in (b"{", b"[")
    at = 0 if whole else draw.randrange(len(lines))
    try:
        value = json.loads(data if whole else lines[at])
    except ValueError:
        return None
    holder: list[Any] = [value]
    for _ in range(draw.choice((1, 1, 2))):
        places = [*_places(holder)]
        inside, key = draw.choice(places)
        if draw.random() < 0.2 and isinstance(inside, dict):
            del inside[key]
        else:
            inside[key] = copy.deepcopy(draw.choice(ODD))
    text = json.dumps(holder[0]).encode()
    if whole:
        return text
    return b"\n".join([*lines[:at], text, *lines[at + 1 :]]) + b"\n"


def _of_table(data: bytes, draw: random.Random) -> bytes:
    """The table with another value in one place; a JSON text with another value inside."""
    table = pq.read_table(io.BytesIO(data))
    names = [
        field.name
        for field in table.schema
        if pa.types.is_string(field.type) or pa.types.is_integer(field.type)
    ]
    name, row = draw.choice(names), draw.randrange(table.num_rows)
    values = table.column(name).to_pylist()
    if pa.types.is_integer(table.schema.field(name).type):
        values[row] = draw.choice((0, -1, 1, 5, 127))
    else:
        made = None if values[row] is None else _of_json(values[row].encode(), draw)
        odd = (
            "",
            "[]",
            "{}",
            "null",
            "x",
            "9" * 5000,
            "[" * 5000,
            '{"ref": 99}',
            '{"a": {"list": []}}',
            '"\\ud800"',
        )
        values[row] = draw.choice(odd) if made is None else made.decode()
    field = table.schema.field(name)
    table = table.set_column(table.schema.get_field_index(name), field, pa.array(values, field.type))
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    for key in [*value] if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from _places(value[key])


# -- the readers, each with a file that it reads ---------------------------------------------------------


@dataclass(frozen=True)
class Reader:
    """read: a file, and all that is in it. real: makes one, by its path."""

    name: str
    read: Callable[[Path], object]
    real: Callable[[Path], object]


def _copy(source: Path) -> Callable[[Path], object]:
    return lambda path: shutil.copyfile(source, path)


def _text(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(text)


def _rows(*rows: dict[str, Any]) -> Callable[[Path], object]:
    return _text("".join(json.dumps(row) + "\n" for row in rows))


def _notebook(path: Path) -> None:
    """It is read, compared with a run, written and shown."""
    read_notebook(path, order="count")
    stored = read_notebook(path)
    cell_lines(path)
    fresh = replace(stored, steps=tuple(replace(step, wall_s=0.1) for step in stored.executions))
    assert compare_with_stored(stored, fresh).status
    silent = replace(stored, steps=tuple(replace(step, outputs=()) for step in stored.executions))
    compare_with_stored(stored, silent).saved()
    kept = path.with_name("kept.trajectory.parquet")
    write_trajectory(kept, fresh)
    json.dumps(notebook_facts(read_trajectory(kept), stored))
    kept.unlink()


def _programs(source: str) -> Callable[[Path], object]:
    def read(path: Path) -> None:
        left: dict[str, str] = {}
        for program in sources.programs(f"{source}{path}", note=lambda text: None, refuse=left.__setitem__):
            assert program.id is not None
        assert all(left.values())
        assert not any("Traceback" in why for why in left.values()), left

    return read


def _recordings(path: Path) -> None:
    """The recordings of a folder, in which the file takes the place of the one of its name."""
    folder = path.parent / "recordings"
    shutil.copytree(RECORDED, folder, dirs_exist_ok=True)
    shutil.copyfile(path, folder / path.name.replace("_", "-"))
    try:
        found = Recordings(folder)
        for recording in found:
            for trace in recording.traces:
                for event in trace:
                    assert event.locals is not None
                    assert event.stack is not None
    finally:
        shutil.rmtree(folder)


RECORDED = Path()


def _shard(name: str) -> Callable[[Path], object]:
    return lambda path: shutil.copyfile(RECORDED / name, path)


def _answers(path: Path) -> None:
    for line in lines_of(path):
        with contextlib.suppress(ValueError):  # a status of the line
            answer_in_line(line.raw)
        with contextlib.suppress(ValueError):
            sample_in(line.raw)


def _table(path: Path) -> object:
    rows = [
        {"id": f"sample_{n}", "code": "def f(a):\n    return a", "input": "1", "output": "1"}
        for n in range(5)
    ]
    return pq.write_table(pa.Table.from_pylist(rows), path)


def _trajectory(path: Path) -> object:
    read = read_notebook(NOTEBOOKS / "survey.ipynb")
    return write_trajectory(path, replace(read, path=None))


def _part(path: Path) -> object:
    read = replace(read_notebook(NOTEBOOKS / "dice.ipynb"), path=None)
    with TrajectoryWriter(path.with_name("x.trajectory.parquet"), read) as writer:
        for step in read.steps:
            writer.write(step)
    return writer.part.rename(path)


def _read_part(path: Path) -> None:
    read = replace(read_notebook(NOTEBOOKS / "dice.ipynb"), path=None)
    target = path.with_name("y.trajectory.parquet")
    shutil.copyfile(path, path.with_name("y.trajectory.parquet.part"))
    begun(target)
    try:
        with TrajectoryWriter(target, read) as writer:
            for _ in writer.steps():
                pass
    finally:
        path.with_name("y.trajectory.parquet.part").unlink()


def _project(name: str) -> Callable[[Path], object]:
    def read(path: Path) -> None:
        folder = path.parent / "project"
        (folder / "tests").mkdir(parents=True, exist_ok=True)
        (folder / "tests" / "test_a.py").write_text("def test_a(): pass\n")
        shutil.copyfile(path, folder / name)
        read_project(folder)

    return read


def _configuration(path: Path) -> None:
    import typer

    from deskcheck.cli import app

    group: Any = typer.main.get_command(app)
    shutil.copyfile(path, path.with_name(NAME))
    with group.make_context("deskcheck", ["list"], resilient_parsing=True) as context:
        configuration(group, context, path.parent)


def _plan(path: Path) -> None:
    shutil.copyfile(path, path.with_name("job.json"))
    read_plan(JobFolder(path.parent))


FUNCTIONS = {
    "code": "def f(a, b=1):\n    return a + b\n",
    "entry": "f",
    "inputs": ["(3, 4)", "3, b=4"],
    "id": "x",
}
CRUXEVAL = {"id": "sample_0", "code": "def f(a):\n    return a", "input": "1", "output": "1"}
MBPP = {
    "task_id": 2,
    "text": "t",
    "code": "def f(a):\n    return a",
    "test_list": ["assert f(1) == 1"],
    "test_setup_code": "",
}
HUMANEVAL = {
    "task_id": "HumanEval/0",
    "prompt": "def f(a):\n",
    "canonical_solution": "    return a\n",
    "test": "def check(f):\n    assert f(1) == 1\n",
    "entry_point": "f",
}
CODING = {
    "id": "a",
    "prompt": "Write f.",
    "tests": ["assert f(1) == 1"],
    "entry_point": "f",
}
STEPPED = {
    "runs": [
        {"id": "f_1_0", "first": 3, "exact": 2, "states": ["x"], "jumps": [1], "stop": "end", "why": None}
    ]
}
SAMPLE = {
    "doc_id": 0,
    "doc": {"q": "a"},
    "target": "1",
    "resps": [["1"]],
    "filtered_resps": ["1"],
    "filter": "none",
    "metrics": ["acc"],
    "acc": 1.0,
}
JOB = {"kind": "record", "settings": {}, "shards": [["a", 1]], "started": 1.5, "whole": True}
TOML = """[build-system]
requires = ["setuptools"]
[project]
name = "a"
version = "1"
dependencies = ["numpy>1"]
license = {text = "MIT"}
[project.optional-dependencies]
test = ["pytest"]
[tool.pytest.ini_options]
testpaths = ["tests"]
addopts = "-q -p no:x"
[tool.deskcheck.record]
runs = 3
"""
INI = "[pytest]\ntestpaths = tests\naddopts = -q -p no:x\n[tool:pytest]\nx = 1\n"
SCRIPT = "# %% [markdown]\n# # Title\n# %%\nx = 1\nprint(x)\n# %%\n'''\n# %%\n'''\n"
CSV = (
    "action_id,time,session_id,kernel_id,notebook_name,event,cell_index,cell_num,cell_type,cell_source,cell_output,user_id,expert\n"
    "1,2023-01-01T10:00:00,s,k,n,create,c1,0,code,x = 1,,u,e\n"
    "2,2023-01-01T10:00:01,s,k,n,execute,c1,0,code,x = 1,,u,e\n"
    '3,2023-01-01T10:00:02,s,k,n,finished_execute,c1,0,code,x = 1,"[{""output_type"": ""stream""}]",u,e\n'
)
JUNE = Path(__file__).parent / "notebook" / "june_session.jsonl"

_SCRIPTS = [Reader("script.py", read_notebook, _text(SCRIPT))] if importlib.util.find_spec("jupytext") else []
"""Only where the extra [notebook] is installed."""

READERS = [
    *(
        Reader(f"{name}.ipynb", _notebook, _copy(NOTEBOOKS / f"{name}.ipynb"))
        for name in ("dice", "growth", "survey")
    ),
    Reader("rich.ipynb", _notebook, _copy(ROOT / "tests/frozen/inputs/notebooks/rich.ipynb")),
    *_SCRIPTS,
    Reader("june.jsonl", lambda path: [*read_june(path)], _copy(JUNE)),
    Reader("june.csv", lambda path: [*read_june(path)], _text(CSV)),
    Reader(
        "functions.jsonl", _programs(""), _rows(FUNCTIONS, FUNCTIONS | {"id": 3}, {**FUNCTIONS, "x": [1, {}]})
    ),
    Reader("cruxeval.jsonl", _programs("cruxeval:"), _rows(CRUXEVAL, CRUXEVAL)),
    Reader("mbpp.jsonl", _programs("mbpp:"), _rows(MBPP, MBPP)),
    Reader("humaneval.jsonl", _programs("humaneval:"), _rows(HUMANEVAL, HUMANEVAL)),
    Reader("cruxeval.parquet", _programs("cruxeval:"), _table),
    Reader("cruxeval.json", _programs("cruxeval:"), _text(json.dumps([CRUXEVAL, CRUXEVAL]))),
    Reader("rows.csv", lambda path: [*read_rows(path, str(path), "Rows.")], _text('a,b\n1,"2\n3"\n4,5\n')),
    Reader(
        "coding.jsonl",
        lambda path: [*read_coding_tasks(path, str(path))],
        _rows(CODING, CODING | {"id": "b"}),
    ),
    Reader(
        "program.py",
        _programs("doctests:"),
        _text('def f(a):\n    """\n    >>> f(1)\n    1\n    """\n    return a\n'),
    ),
    Reader("recordings_00000.parquet", _recordings, _shard("recordings-00000.parquet")),
    Reader("events_00000.parquet", _recordings, _shard("events-00000.parquet")),
    Reader("a.trajectory.parquet", lambda path: [*read_trajectory(path).steps], _trajectory),
    Reader("a.part", _read_part, _part),
    Reader(
        "answers.jsonl", _answers, _rows({"id": "a", "completion": "b", "model": "m", "stop_reason": "stop"})
    ),
    Reader("stepped.json", first_mistake, _text(json.dumps(STEPPED))),
    Reader("plan.json", _plan, _text(json.dumps(JOB))),
    Reader(
        "manifest.jsonl",
        lambda path: manifest_lines(JobFolder(path.parent)),
        _rows({"shard": "a"}),
    ),
    Reader("pyproject.toml", _project("pyproject.toml"), _text(TOML)),
    Reader("settings.toml", _configuration, _text(TOML)),
    Reader("tox.ini", _project("tox.ini"), _text(INI)),
    Reader(
        "sanitise.cfg",
        read_sanitisers,
        _text("[a]\nregex: \\d+:\\d\nreplace: TIME\n[b]\nregex: x(y)\nreplace: \\1\n"),
    ),
    Reader(
        "scratchpad.txt",
        lambda path: read_trace(path.read_text("utf-8", "replace"), "scratchpad"),
        _text("line 1: x = 1\n"),
    ),
]


def _harness(path: Path) -> None:
    from deskcheck.ask.results.harness_logs import runs_in_samples

    target = path.with_name("samples_sum_2026-01-01T00-00-00.000000.jsonl")
    shutil.copyfile(path, target)
    for asked in runs_in_samples(target, None, []):
        assert asked.samples is not None


READERS.append(Reader("samples.jsonl", _harness, _rows(SAMPLE, SAMPLE | {"doc_id": 1})))


@pytest.fixture(scope="module", autouse=True)
def recorded(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A folder of real recordings."""
    global RECORDED
    RECORDED = tmp_path_factory.mktemp("mutated") / "recorded"
    code = (
        "def f(a):\n    total = []\n    for x in range(a):\n        total.append({'x': x})\n    return total"
    )
    program = Program(id="f", code=f"{code}\nprint(f(3))")
    settings = RecordSettings(sandbox=Confinement.TRUSTED, repeat=False)
    assert record_programs([program], RECORDED, settings, workers=1, explain=False).recorded == 1


def _too_long(*_: object) -> None:
    raise TimeoutError(f"takes more than {PATIENCE_S} s")


ONCE_WRONG = {
    "june.jsonl": (136,),
    "a.part": (11, 141, 184, 197, 261, 425),
    "samples.jsonl": (122, 141, 155),
    "stepped.json": (1083,),
    "tox.ini": (1324,),
}


def outcomes(reader: Reader, seeds: Iterable[int], folder: Path) -> dict[int, str]:
    """What is wrong with mutants of a reader's file, by their seeds."""
    path = folder / reader.name
    reader.real(path)
    reader.read(path)
    data = path.read_bytes()
    wrong: dict[int, str] = {}
    before = signal.signal(signal.SIGALRM, _too_long)
    try:
        for seed in seeds:
            path.write_bytes(mutant(data, seed))
            signal.alarm(PATIENCE_S)
            try:
                reader.read(path)
            except DeskcheckError as error:
                if not str(error).strip() or "Traceback" in str(error):
                    wrong[seed] = f"refused without a reason: {str(error)!r}"
            except Exception as error:  # noqa: BLE001 (any other is what this test looks for)
                at = error.__traceback__
                while at is not None and at.tb_next is not None:
                    at = at.tb_next
                assert at is not None
                wrong[seed] = (
                    f"{type(error).__name__}: {error!s:.200} ({os.path.basename(at.tb_frame.f_code.co_filename)}:{at.tb_lineno})"
                )
            finally:
                signal.alarm(0)
    finally:
        signal.signal(signal.SIGALRM, before)
    return wrong


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_a_mutated_file_is_read_or_refused(reader: Reader, tmp_path: Path) -> None:
    """Some of each kind, and those that once did something else."""
    assert outcomes(reader, [*range(6), *ONCE_WRONG.get(reader.name, ())], tmp_path) == {}


@pytest.mark.exhaustive
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_many_mutated_files_are_read_or_refused(reader: Reader, tmp_path: Path) -> None:
    """2,000 notebooks and rows, 400 of each other kind."""
    many = 500 if reader.name.endswith((".ipynb", ".jsonl")) else 400
    assert outcomes(reader, range(100, 100 + many), tmp_path) == {}
