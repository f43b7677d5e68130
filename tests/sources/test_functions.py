"""Functions with inputs in JSON lines. Not: running them."""

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deskcheck.recording import InputError, Mode, Program
from deskcheck.sources import programs

ADD: dict[str, Any] = {
    "code": "def add(a, b=1):\n    return a + b\n",
    "entry": "add",
    "inputs": ["(3, 4)", "3, b=4"],
}


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a test writes its file."""
    monkeypatch.chdir(tmp_path)
    return Path("functions.jsonl")


def write(path: Path, *lines: dict[str, Any] | str) -> str:
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return str(path)


def test_each_input_is_a_program(rows: Path) -> None:
    """Ids say row and input; what the row says of its origin arrives, and what else it holds is kept."""
    known = {
        "source": "mine",
        "licence": "MIT",
        "train_ok": True,
        "date": "2020-02-02",
        "id": "sum",
        "level": 3,
    }
    found = list(programs(write(rows, ADD, "", {**ADD, **known})))
    today = datetime.fromtimestamp(rows.stat().st_mtime, UTC).date().isoformat()
    plain = {"code": ADD["code"], "mode": Mode.CALL, "entry": "add"}
    own = {"source": "functions.jsonl", "date": today, **plain}
    stated = {
        "source": "mine",
        "licence": "MIT",
        "train_ok": True,
        "date": "2020-02-02",
        "extra": {"level": 3},
        **plain,
    }
    assert found == [
        Program(id="functions_1_0", arguments="(3, 4)", **own),
        Program(id="functions_1_1", arguments="(3, b=4)", **own),
        Program(id="sum_3_0", arguments="(3, 4)", **stated),
        Program(id="sum_3_1", arguments="(3, b=4)", **stated),
    ]


def test_gzip_is_read_too(tmp_path: Path) -> None:
    """A packed file gives the same programs."""
    path = tmp_path / "f.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(ADD).encode()))
    assert [program.id for program in programs(str(path))] == ["f_1_0", "f_1_1"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"code": "x", "inputs": []},
            "functions.jsonl:2: the row lacks 'entry'; it has code, inputs. A row is",
        ),
        ({}, "functions.jsonl:2: the row lacks 'code'; it has nothing. A row is"),
        ('{"code": "def', "functions.jsonl:2: is not JSON at column 10: Unterminated string"),
        ("[1, 2]", "functions.jsonl:2: a row is a JSON object, this is a list. A row is"),
        ({**ADD, "code": 3}, "functions.jsonl:2: 'code' is a whole number, not a string."),
        ({**ADD, "inputs": "(1)"}, "functions.jsonl:2: 'inputs' is a string, not a list."),
        ({**ADD, "inputs": ["1", 2]}, "functions.jsonl:2: 'inputs[1]' is a whole number, not a string."),
        ({**ADD, "inputs": []}, "functions.jsonl:2: 'inputs' is empty: nothing to call add with."),
        (
            {**ADD, "inputs": ["1", "(2"]},
            "functions.jsonl:2: inputs[1]: not an argument list: '(' was never closed",
        ),
        ({**ADD, "entry": "ad"}, "functions.jsonl:2: code: defines no ad. Did you mean add?"),
        ({**ADD, "code": "def f(:"}, "functions.jsonl:2: code:1:7: does not parse as Python"),
        ({**ADD, "train_ok": "yes"}, "functions.jsonl:2: 'train_ok' is a string, not true or false."),
        ({**ADD, "id": [1]}, "functions.jsonl:2: 'id' is neither a string nor a whole number: [1]."),
        ({**ADD, "licence": 1}, "functions.jsonl:2: 'licence' is a whole number, not a string."),
        (
            {"id": "s", "code": "x", "input": "1", "output": "2"},
            "This row is one of CRUXEval: write cruxeval:functions.jsonl",
        ),
    ],
)
def test_a_bad_row_is_named_when_it_is_reached(rows: Path, row: dict[str, Any] | str, message: str) -> None:
    """What stands before it has been given out; the error names file, line and the way out."""
    iterator = programs(write(rows, ADD, row, ADD))
    assert [next(iterator).id, next(iterator).id] == ["functions_1_0", "functions_1_1"]
    with pytest.raises(InputError) as caught:
        next(iterator)
    assert message in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"\n\n"])
def test_an_empty_file_is_refused(rows: Path, content: bytes) -> None:
    """Nothing to record is not success."""
    rows.write_bytes(content)
    with pytest.raises(InputError, match=r"functions\.jsonl: has no rows\. A row is"):
        list(programs(str(rows)))


def test_a_file_cut_short_gives_what_is_whole(rows: Path) -> None:
    """Cut at any byte, the whole rows come first and then an error, never a wrong program."""
    write(rows, *[ADD] * 3)
    whole = rows.read_bytes()
    line = whole.index(b"\n")
    for end in range(0, len(whole), 7):
        rows.write_bytes(whole[:end])
        got: list[str] = []
        try:
            got.extend(program.id for program in programs(str(rows)))
        except InputError:
            pass
        complete = whole[:end].count(b"\n") + (end % (line + 1) == line)
        assert len(got) in (0, 2 * complete)


def test_bytes_that_are_no_text_are_refused(rows: Path) -> None:
    """A binary file is told by its line and byte."""
    rows.write_bytes(json.dumps(ADD).encode() + b'\n{"code": "\xff"}\n')
    with pytest.raises(InputError, match=r"functions\.jsonl:2: is not UTF-8 at byte 10"):
        list(programs(str(rows)))
