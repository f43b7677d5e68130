"""Rows are checked where they come from somebody else: what a tracer tells passes, all else is refused."""

import functools
import json
import random
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskcheck.recording import rules
from deskcheck.recording.block import COLUMNS as HAS_COLUMNS
from deskcheck.recording.block import CONTEXT, GAP, KINDS, MAGIC, TEXTS
from deskcheck.recording.rules import Checker, _Checker
from deskcheck.recording.trace import Row, Trace
from tests.recording import told
from tests.sample import examples

try:
    from deskcheck.recording import _rows
except ImportError:
    _rows = None  # type: ignore[assignment]

both = pytest.mark.parametrize(
    "checker",
    [
        pytest.param(lambda: _Checker(True), id="python"),
        pytest.param(
            lambda: _rows.Checker(True),
            id="c",
            marks=pytest.mark.skipif(_rows is None, reason="would have proved it of the check in C"),
        ),
    ],
)


def binary(rows: Iterable[Row]) -> bytes:
    """A block of these rows, as the native tracer writes them."""
    codes: dict[tuple[str, str], int] = {}
    parts = [MAGIC]
    for row in rows:
        texts = [getattr(row, name) for name in TEXTS]
        present = sum(1 << bit for bit, text in enumerate(texts) if text is not None)
        head = KINDS.index(row.kind) | CONTEXT | (HAS_COLUMNS if present & 0xFF else 0)
        parts.append(bytes([head | (GAP if present & 0x100 else 0)]))
        code = (row.function, row.file)
        new = code not in codes
        number = codes.setdefault(code, len(codes))
        parts += [_number(n) for n in (row.thread, row.index, row.frame, number)]
        parts += [_text(text) for text in code] if new else []
        parts += [_number(row.line), _number(row.offset + 1)]
        parts += [bytes([present & 0xFF])] if present & 0xFF else []
        parts += [_text(text) for text in texts if text is not None]
    return b"".join(parts)


def _number(value: int) -> bytes:
    found = b""
    while value >= 0x80:
        found += bytes([value & 0x7F | 0x80])
        value >>= 7
    return found + bytes([value])


def _text(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return _number(len(data)) + data


def verdict(check: Callable[[], object]) -> str | None:
    """What is wrong, None where nothing is. Any other exception is a failure of the test."""
    try:
        check()
    except ValueError as error:
        return str(error) or "wrong"
    return None


def placed(rows: list[Row]) -> list[Row]:
    """In binary form, lines are not negative."""
    return [row._replace(line=abs(row.line) >> 1, offset=abs(row.offset) >> 1) for row in rows]


@both
@settings(max_examples=examples(10), deadline=None)
@given(rows=told.rows())
def test_what_can_be_told_is_right(checker: Callable[[], Any], rows: list[Row]) -> None:
    """Row by row, and as a block; and a trace of such rows can be read to its end."""
    one, other = checker(), checker()
    for row in rows:
        one.row(row)
    assert other.block(binary(placed(rows))) == len(rows)
    first = next((row.frame for row in rows), 0)
    for event in Trace([row._replace(frame=first) for row in rows if row.thread == 0]):
        try:
            repr(event.locals), repr(event.stack), repr(event.globals), repr(event.value)
        except KeyError:
            pass  # what it leads to has gone: `damaged` names that


def changed(draw: st.DrawFn, text: str) -> str:
    """A JSON text, changed somewhere."""
    way = draw(st.sampled_from(["cut", "character", "word", "swap", "deep", "any"]))
    at = draw(st.integers(0, len(text)))
    match way:
        case "cut":
            return text[:at]
        case "character":
            return text[:at] + draw(st.sampled_from('{}[]",:0-1eE.\\ntu \x00é\ud800')) + text[at + 1 :]
        case "word":
            words = [
                "null",
                "true",
                "NaN",
                "1e5",
                "-0",
                "01",
                '"ref"',
                '{"ref":1}',
                "[]",
                '{"unbound":true}',
                "-",
                "1.",
                "9" * 30,
            ]
            return text[:at] + draw(st.sampled_from(words)) + text[at:]
        case "swap":
            return json.dumps(draw(told.encoded))
        case "deep":
            depth = draw(st.integers(100, 140))
            return '{"a":' + '{"tuple":[' * depth + "1" + "]}" * depth + "}"
    return json.dumps(draw(_ANYTHING))


_ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "ref tuple type kind items fields 1 2 splice length cut text int float self frame offset at a".split()
            ),
            inside,
            max_size=4,
        )
    ),
    max_leaves=8,
)


def without_twice(text: str | None) -> bool:
    """Whether no object of a JSON text has a key twice: that is read as the last, and may be refused."""
    twice = False

    def pairs(found: list[tuple[str, Any]]) -> None:
        nonlocal twice
        twice |= len(dict(found)) < len(found)

    try:
        json.loads(text or "null", object_pairs_hook=pairs)
    except (ValueError, RecursionError):
        return True
    return not twice


@st.composite
def wrong_rows(draw: st.DrawFn) -> list[Row]:
    rows = draw(told.rows(most=4, threads=(0,))) or [at()]
    number = draw(st.integers(0, len(rows) - 1))
    name = draw(st.sampled_from(("locals", "stack", "globals", "objects", "caller", "value", "left_out")))
    text = getattr(rows[number], name) or draw(st.sampled_from(["{}", "[]", "null"]))
    columns: dict[str, Any] = {name: changed(draw, text)}
    rows[number] = rows[number]._replace(**columns)
    return rows


@pytest.mark.skipif(_rows is None, reason="would have proved that the check in C is the one in Python")
@settings(max_examples=examples(25), deadline=None)
@given(rows=wrong_rows())
def test_both_checks_say_the_same(rows: list[Row]) -> None:
    """Of rows with one column that was changed, alone and in a block; what passes, the reader understands."""
    if not all(map(without_twice, (text for row in rows for text in row[8:]))):
        return
    one, other = _Checker(True), _rows.Checker(True)
    said = [verdict(functools.partial(list, map(check.row, rows))) for check in (one, other)]
    assert (said[0] is None) == (said[1] is None), said
    block = binary(placed(rows))
    said = [verdict(functools.partial(check.block, block)) for check in (_Checker(True), _rows.Checker(True))]
    assert (said[0] is None) == (said[1] is None), said


@both
@settings(max_examples=examples(10), deadline=None)
@given(rows=told.rows(most=5), seed=st.integers(0, 2**32))
def test_a_changed_block_is_right_or_refused(checker: Callable[[], Any], rows: list[Row], seed: int) -> None:
    """Bytes changed, cut out, put in and repeated: no error but one that says what is wrong."""
    block = bytearray(binary(placed(rows)))
    draw = random.Random(seed)
    for _ in range(draw.randint(1, 4)):
        at = draw.randint(3, len(block))
        match draw.randint(0, 3):
            case 0:
                del block[at : at + draw.randint(1, 9)]
            case 1:
                block[at:at] = draw.randbytes(draw.randint(1, 9))
            case 2:
                block[at:at] = block[3 : draw.randint(3, len(block))]
            case 3:
                block[at : at + 1] = bytes([draw.randrange(256)])
    verdict(lambda: checker().block(bytes(block)))


def at(**columns: Any) -> Row:
    plain = Row(0, 0, "line", 0, "f", "program.py", 2, 4, *[None] * 9)
    return plain._replace(**columns)


@both
@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"locals": "[" * 5000 + "]" * 5000}, "locals: "),
        ({"value": '{"tuple":[' * 200 + "]}" * 200}, "value: more than 250 deep"),
        ({"value": '{"ref":7}'}, "it refers to #7, which is unknown"),
        ({"objects": '{"7":{"fields":{}}}'}, "objects: a change of an unknown object"),
        ({"objects": '{"7":{"kind":"dict","type":"dict","items":[1]}}'}, "objects: an item of a mapping"),
        ({"objects": '{"7":{"kind":"bytearray","type":"bytearray","items":[256]}}'}, "objects: not a byte"),
        ({"objects": '{"7":{"kind":"method","type":"method"}}'}, "objects: an object of an unknown kind"),
        ({"value": '{"int":"' + "9" * 5000 + '"}'}, "value: not a valid int"),
        ({"value": "1" * 30}, "value: a number of more than 64 bits"),
        ({"value": "NaN"}, "value: "),
        ({"value": '{"bytes":"\\u0100"}'}, "value: not a valid bytes"),
        ({"caller": '{"frame":[],"offset":0}'}, "caller: a caller without a frame"),
        ({"left_out": '{"deep":"x"}'}, "left_out: not numbers"),
        ({"index": 3}, "the next event of thread 0 should have index 0"),
        ({"kind": "loop"}, "its kind is unknown"),
        ({"thread": 10_000}, "its thread is not in 0..9999"),
        ({"frame": -1}, "its frame is not a number"),
        ({"function": None}, "it has no function, or no file"),
        ({"output": 5}, "a column is not text"),
    ],
)
def test_what_is_wrong_is_said(checker: Callable[[], Any], columns: dict[str, Any], why: str) -> None:
    assert (verdict(lambda: checker().row(at(**columns))) or "").startswith(why)


@both
def test_more_objects_than_are_kept(checker: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known of objects is bounded; those that have gone do not count."""
    check, most = checker(), rules.OBJECTS
    if isinstance(check, _Checker):
        most = 400
        monkeypatch.setattr(rules, "OBJECTS", most)
    told_of = ",".join(f'"{number}":{{"kind":"set","type":"set"}}' for number in range(most // 4))
    gone = ",".join(f'"{number}":null' for number in range(most // 4))
    for index in range(0, 12, 2):
        check.row(at(index=index, objects=f"{{{told_of}}}"))
        check.row(at(index=index + 1, objects=f"{{{gone}}}"))
    for thread in range(1, 5):
        check.row(at(thread=thread, objects=f"{{{told_of}}}"))
    with pytest.raises(OverflowError, match=f"more than {most} objects"):
        check.row(at(thread=5, objects='{"1":{"kind":"set","type":"set"}}'))


@both
def test_more_of_long_names_than_is_kept(checker: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A block tells a name once, a file has it in every row: those of all rows together are bounded."""
    check = checker()
    long, count = "é" * 90_000, 0
    if isinstance(check, _Checker):
        monkeypatch.setattr(rules, "NAMES_CHARS", 5_000_000)
    rows = [at(function=long), *(at(index=n, function=long) for n in range(1, 700))]
    check.block(binary([at(index=0, function="f" * 300)._replace(index=0)]))  # not counted
    said = None
    while said is None and count < 20:
        moved = [row._replace(index=1 + count * len(rows) + n) for n, row in enumerate(rows)]
        try:
            check.block(binary(moved))
        except OverflowError as error:
            said = str(error)
        else:
            count += 1
    assert (said or "").startswith("names of more than")
    assert count * len(rows) * 90_000 <= rules.NAMES_CHARS


@both
def test_more_events_than_a_block_has(checker: Callable[[], Any]) -> None:
    """A tracer hands a block over before it has so many."""
    many = binary([at()]) + b"\x01\x01\x01" * (rules.BLOCK_EVENTS - 1)
    assert checker().block(many) == rules.BLOCK_EVENTS
    with pytest.raises(ValueError, match="more events than a block has"):
        checker().block(many + b"\x01\x01\x01")


def test_rows_of_a_file_are_looked_at_by_themselves() -> None:
    """A page of rows may begin anywhere: what they refer to is not known there."""
    rules.check([at(index=7, value='{"ref":3}', objects='{"3":{"splice":[0,0,[[1,2]]]}}')])
    with pytest.raises(ValueError, match="not an encoded value"):
        rules.check([at(index=7, value='{"reff":3}')])


@pytest.mark.parametrize(
    ("value", "objects", "why"),
    [
        ({"ref": 1}, {"1": {"kind": "list", "type": "list", "items": [{"ref": 1}, 2]}}, None),
        ({"tuple": [1, "a"]}, {}, None),
        ({"ref": 2}, {"1": {"kind": "set", "type": "set"}}, "refers to #2"),
        ({"ref": 1}, {"1": {"kind": "set", "type": "set"}, "x": {"kind": "set", "type": "set"}}, "identity"),
        ({"ref": 1}, {"1": {"kind": "set", "type": "set"}, "01": {"kind": "set", "type": "set"}}, "identity"),
        ({"ref": 1}, {"1": [1]}, "not the content"),
        ({"ref": 1}, {"1": {"type": "list"}}, "not the content"),
        ({"ref": 1}, {"1": None}, "not the content"),
    ],
)
def test_a_value_is_checked_with_what_it_leads_to(value: Any, objects: Any, why: str | None) -> None:
    """As notebooks' states hold one: whole contents under identity numbers, and no reference leads nowhere."""
    if why is None:
        rules.check_value(value, objects)
    else:
        with pytest.raises(ValueError, match=why):
            rules.check_value(value, objects)


def test_a_block_of_json_is_one_row() -> None:
    """As the reference tracer gives it; what is more than the fields of a row is not parsed."""
    assert Checker().block(json.dumps(at()).encode()) == 1
    for bad in (
        b"[]",
        b"[" * 10_000,
        b"[[],[]]" * 10_000,
        b"[1",
        b'["',
        b"[\xff]",
        b"[" + b"0," * 16 + b"0]",
    ):
        assert verdict(lambda bad=bad: Checker().block(bad)), bad  # type: ignore[misc]
