"""Attacks on who looks: recordings whose events hold far more values than anybody can look at.

A value of many parts that is there at hundreds of events, with a row for it in the file once. What is counted is
work: values that are written out or decoded, and bytes of a page.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from deskcheck.notation import NOTATIONS, values
from deskcheck.recording import Outcome, Program, Recording, RunResult
from deskcheck.recording.reader import Recordings
from deskcheck.recording.value import _Decoder, extent
from deskcheck.recording.writer import Writer
from deskcheck.view.table import trace_table
from deskcheck.view.trace_data import LARGE_STATE, TraceData
from tests.command import deskcheck
from tests.recording.test_damaged import _CODE, _HERE, _row

EVENTS = 300
MOST = 40_000
_NESTED = '{"tuple":[' * 20 + "1" + "]}" * 20
_OBJECTS = ",".join(f'"{number}":{{"kind":"list","type":"list","items":[1]}}' for number in range(2000))
MUCH = {
    "a nested value": ("locals", '{"a":{"tuple":[' + ",".join([_NESTED] * 200) + "]}}"),
    "a value on the stack": ("stack", "[" + ",".join([_NESTED] * 200) + "]"),
    "a long text": ("locals", '{"a":"' + "x" * (2 << 20) + '"}'),
    "objects that nothing leads to": ("objects", "{" + _OBJECTS + "}"),
    "a large object": (
        "objects",
        '{"1":{"kind":"list","type":"list","items":[' + "0," * 20_000 + "0]}}",
    ),
}


def much(folder: Path, name: str, events: int = EVENTS) -> Path:
    """A recording of small events after one that holds much."""
    column, text = MUCH[name]
    with Writer(folder) as writer:
        spool = writer.begin(Program(id="much", code=_CODE, entry="f", arguments="(1,)"))
        first = {column: text} if column != "objects" else {column: text, "locals": '{"a":{"ref":1}}'}
        spool.write(json.dumps(_row(0, "call", 1, **first)))
        for number in range(1, events):
            spool.write(json.dumps(_row(number, "line", 2, locals=json.dumps({"n": number}))))
        spool.finish(RunResult(outcome=Outcome.RETURNED), _HERE, repeatable=True)
    return folder


def read(folder: Path) -> Recording:
    return next(iter(Recordings(folder)))


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many values were written out, and decoded."""
    done = Counter[str]()
    for kind, name in ((values, "_text"), (_Decoder, "value")):
        plain = getattr(kind, name)

        def counting(*given: Any, _plain: Any = plain, _kind: str = kind.__name__) -> Any:
            done[_kind] += 1
            return _plain(*given)

        monkeypatch.setattr(kind, name, counting)
    return done


@pytest.mark.parametrize("name", MUCH)
def test_a_text_ends_where_its_events_hold_too_much(tmp_path: Path, work: Counter[str], name: str) -> None:
    """In each notation, with a last line that says so; what is written is the beginning of the whole text."""
    recording = read(much(tmp_path, name))
    for notation in ("compact", "scratchpad", "dynamic", "direct", "cwm"):
        work.clear()
        text = NOTATIONS[notation].render(recording, limit=MOST)
        assert text.splitlines()[-1] == "cut: values", notation
        # A notation writes a value twice: to see whether it is another, and to show it.
        assert work["deskcheck.notation.values"] <= 3 * MOST, notation


def test_what_is_in_the_bound_is_written_as_without_one(tmp_path: Path) -> None:
    recording = read(much(tmp_path, "a nested value", events=3))
    for notation in ("compact", "dynamic"):
        whole = NOTATIONS[notation].render(recording)
        assert NOTATIONS[notation].render(recording, limit=10_000_000) == whole
        cut = NOTATIONS[notation].render(recording, limit=20_000).splitlines()
        assert cut[:-1] == whole.splitlines()[: len(cut) - 1]
        assert len(cut) > 1


@pytest.mark.parametrize("name", MUCH)
def test_rows_of_a_table_say_that_they_hold_too_much(tmp_path: Path, work: Counter[str], name: str) -> None:
    """Those before it are shown; each event has its row."""
    recording = read(much(tmp_path, name))
    console = Console(width=200)
    with console.capture() as captured:
        console.print(trace_table(recording, max_values=MOST))
    shown = captured.get()
    if name == "objects that nothing leads to":  # and which a table does not look at
        assert "not shown" not in shown
    else:
        assert f"over {MOST:,} values: not shown" in shown
    assert sum(line.split()[:1] == [str(EVENTS - 1)] for line in shown.splitlines()) == 1
    assert work["_Decoder"] <= 3 * MOST


def test_a_page_does_not_repeat_what_is_large(tmp_path: Path) -> None:
    """Its blocks begin with a state; of one that is large there are as many as its events fill."""
    recording = read(much(tmp_path, "a long text", events=4000))
    data = TraceData(recording.trace)
    assert sum(map(len, data.blocks())) < 3 * (2 << 20) + 4000 * 100
    assert len(data.starts) <= 2
    small = TraceData(read(much(tmp_path / "small", "objects that nothing leads to", events=6000)).trace)
    assert small.starts == [
        0,
        512,
        2515,
        4518,
    ]  # a state of less than LARGE_STATE bytes: by its entries, as ever
    assert len(MUCH["objects that nothing leads to"][1]) < LARGE_STATE


def test_the_commands_say_it(tmp_path: Path) -> None:
    much(tmp_path / "runs", "a nested value")
    done = deskcheck("runs", "show", "runs", "--max-values", "50000", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.endswith("cut: values\n")
    assert "ends after 50,000 values" in done.stderr
    assert "--max-values" in done.stderr


@pytest.mark.exhaustive
def test_without_an_option_too(tmp_path: Path) -> None:
    much(tmp_path / "runs", "a nested value")  # 2.4 million values
    done = deskcheck("runs", "show", "runs", cwd=tmp_path)
    assert done.stdout.endswith("cut: values\n")
    done = deskcheck("view", "runs", "much", "--max-events", 300, cwd=tmp_path)
    assert done.returncode == 0
    assert "over 2,000,000 values" in done.stdout


def test_an_extent_is_what_is_there() -> None:
    """Each object once, cycles too; texts by their length."""
    objects: dict[int, Any] = {1: {"kind": "list", "type": "list", "items": [{"ref": 1}, {"ref": 2}]}}
    objects[2] = {"kind": "list", "type": "list", "items": [5]}
    few = extent([{"ref": 1}, {"ref": 1}], objects, 1000)
    assert 5 < few < 30
    assert extent(["x" * 6400], {}, 1000) == 101
    assert extent([[0] * 500], {}, 100) == 100
    assert extent([{"ref": 9}], {}, 100) < 5
