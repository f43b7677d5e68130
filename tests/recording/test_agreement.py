"""Two traces are compared by every name and value, whatever the names are."""

import json
from dataclasses import replace
from typing import Any

import pytest

from deskcheck.recording import Row, State
from deskcheck.recording.comparison import tracers
from deskcheck.recording.comparison.runs import difference
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.recording import RunResult
from deskcheck.recording.trace import fingerprint


def row(names: str, objects: str | None = None) -> Row:
    return Row(0, 0, "call", 0, "f", "a.py", 1, 0, names, None, None, objects, None, None, None, None)


OBJECT = '{"1":{"kind":"object","type":"C","fields":{"ref":%s,"x":%s}}}'


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (row('{"ref":5,"x":1}'), row('{"ref":5,"x":2}')),
        (row('{"a":{"ref":1}}', OBJECT % (5, 1)), row('{"a":{"ref":1}}', OBJECT % (5, 2))),
        (
            row('{"a":{"ref":1}}', OBJECT % ('{"ref":1}', 1)),
            row('{"a":{"ref":1}}', OBJECT % ('{"ref":1}', 2)),
        ),
    ],
    ids=["variable", "attribute", "attribute that refers"],
)
def test_a_name_that_is_ref_hides_no_difference(one: Row, other: Row) -> None:
    """`{"ref": 5}` refers to an object; a variable or an attribute called `ref` does not."""
    found = tracers.first_difference([one], [other])
    assert found is not None
    assert found.field.endswith("x")
    assert tracers.first_difference([one], [one._replace(offset=0)]) is None
    assert fingerprint(State().after(one)) != fingerprint(State().after(other))


def events(*changes: dict[str, Any]) -> list[Row]:
    """Rows of a trace: what each has beside its index."""
    blank = dict.fromkeys(Row._fields) | {"thread": 0, "file": "a.py", "line": 1, "offset": 0, "kind": "line"}
    return [Row(**{**blank, "index": n, **change}) for n, change in enumerate(changes)]


OUTER: dict[str, Any] = {"frame": 0, "function": "f", "kind": "call", "locals": '{"xs":{"ref":%d}}'}
MADE = '{"%d":{"kind":"list","type":"list","items":[]}}'
INNER: dict[str, Any] = {"frame": 1, "function": "g", "kind": "call", "caller": '{"frame":0,"offset":0}'}
GROWN = '{"%d":{"splice":[0,0,[7]]}}'


def test_what_another_frame_holds_is_compared_too() -> None:
    """A list that grows while another function runs: told in time by the one, too late by the other."""
    line: dict[str, Any] = {"frame": 1, "function": "g"}
    for number in (1, 5):  # with the same numbers, and with others
        ours = events(
            OUTER | {"locals": OUTER["locals"] % 1, "objects": MADE % 1},
            INNER,
            line | {"objects": GROWN % 1},
            line,
        )
        late = events(
            OUTER | {"locals": OUTER["locals"] % number, "objects": MADE % number},
            INNER,
            line,
            line | {"objects": GROWN % number},
        )
        in_time = [*late[:2], late[3]._replace(index=2), late[2]._replace(index=3)]
        assert tracers.first_difference(ours, in_time) is None
        found = tracers.first_difference(ours, late)
        assert found is not None
        assert (found.event, found.one, found.two) == (2, "[7]", "[]")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"kind": "return", "value": "0"}, {"kind": "return"}),
        ({"locals": '{"a":-0.0}'}, {"locals": '{"a":0.0}'}),
        ({"locals": '{"a":1,"b":2}'}, {"locals": '{"b":2,"a":1}'}),
        ({"locals": '{"a":1}'}, {"locals": '{"a":true}'}),
    ],
    ids=["no value", "minus zero", "order", "bool"],
)
def test_small_differences_are_differences(one: dict[str, str], other: dict[str, str]) -> None:
    """What `==` of JSON does not tell apart."""
    frame: dict[str, Any] = {"frame": 0, "function": "f"}
    found = tracers.first_difference(events(frame | one), events(frame | other))
    assert found is not None


def test_an_iterator_is_refused() -> None:
    """A trace is gone through more than once: an iterator would be empty the second time, and nothing differs."""
    rows = events({"frame": 0, "function": "f"})
    with pytest.raises(TypeError, match="pass a list"):
        tracers.first_difference(iter(rows), iter(rows))


@pytest.mark.parametrize(
    ("change", "blocks", "where"),
    [
        ({}, [0, 1], None),
        ({"outcome": Outcome.RAISED}, [0, 1], "outcome: returned (E: a) and raised (E: a)"),
        ({"stdout": "b"}, [0, 1], "output: "),
        ({"result": "2"}, [0, 1], "result"),
        ({"detail": "E: b"}, [0, 1], "message: 'a' and 'b'"),
        ({"detail": "E: a\nb"}, [0, 1], None),
        ({"detail": "E(1)"}, [0, 1], None),
        ({}, [0], "event"),
    ],
)
def test_two_runs_differ_in_endings_or_events(
    change: dict[str, Any], blocks: list[int], where: str | None
) -> None:
    """Whichever is first; what the one has and the other has not is a difference."""
    frame: dict[str, Any] = {"frame": 0, "function": "f"}
    told = [json.dumps(row).encode() for row in events(frame, frame)]
    run_result = RunResult(outcome=Outcome.RETURNED, stdout="a", result="1", exception="E", detail="E: a")
    one = (run_result, lambda: told)
    other = (replace(run_result, **change), lambda: [told[number] for number in blocks])
    assert (difference(other, one) is None) == (where is None)
    found = difference(one, other)
    assert found is None if where is None else where in (found or "")
