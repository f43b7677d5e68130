"""Functions among a call's arguments: their text says all that a reader needs, or they have none."""

import functools
import math
import operator
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from deskcheck.tracer.shown.reached import reached_from
from deskcheck.tracer.shown.texts import MOST_TEXTS, texts_of

LIMIT = 3
TABLE: dict[str, int] = {"a": 1}
PAIR = (1, "two")
rename = operator.add


def double(x: int) -> int:
    return 2 * x


def twice(x: int) -> int:
    return double(double(x))


def limited(x: Any, most: int = 5) -> Any:
    return min(x, most, LIMIT, PAIR[0])


def in_table(name: str) -> int:
    return TABLE[name]


def counts(x: int) -> int:
    global LIMIT
    LIMIT = x
    return x


def root(x: Any) -> Any:
    return math.sqrt(rename(x, 1))


def shadows(x: int) -> int:
    return LIMIT + (lambda LIMIT: LIMIT)(x)


def even(n: int) -> bool:
    return n == 0 or odd(n - 1)


def odd(n: int) -> bool:
    return n != 0 and even(n - 1)


@functools.cache
def stored(x: int) -> int:
    return x


def with_list(x: int, seen: list[int] = []) -> list[int]:  # noqa: B006 - that is the point
    seen.append(x)
    return seen


def tagged(x: int) -> int:
    return x


tagged.note = 1  # type: ignore[attr-defined]


def closing(step: Any) -> Any:
    return lambda x: x + step


def texts(*functions: Any) -> dict[str, str]:
    return texts_of(functions)[0]


def text(function: Any) -> str:
    (found,) = texts(function).values()
    return found


def test_definitions_and_what_they_read() -> None:
    assert texts(twice) == {
        "twice": "def twice(x: int) -> int:\n    return double(double(x))",
        "double": "def double(x: int) -> int:\n    return 2 * x",
    }
    assert texts(even).keys() == {"even", "odd"}
    notes = text(limited).splitlines()[2:]
    assert notes == ["# LIMIT = 3", "# PAIR = (1, 'two')"]
    assert text(shadows).splitlines()[2:] == ["# LIMIT = 3"]
    assert text(root).splitlines()[2:] == ["# rename is _operator.add"]


# fmt: off
BESIDE: list[Any] = [lambda x: x + 1, lambda x: x - 1, lambda x, y=2: [lambda z: x][0](y)]
LONG: Any = [lambda x:
        x * 3][0]
# fmt: on


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (BESIDE[0], "lambda x: x + 1"),
        (BESIDE[1], "lambda x: x - 1"),
        (BESIDE[2], "lambda x, y=2: [lambda z: x][0](y)"),
        (LONG, "lambda x: x * 3"),
        (closing(4), "lambda x: x + step\n# step = 4"),
    ],
)
def test_lambdas_are_told_apart_by_their_place(function: Any, expected: str) -> None:
    assert text(function) == expected


def test_a_lambda_in_a_lambda() -> None:
    inner = (lambda: lambda: 7)()
    assert text(inner) == "lambda: 7"


@pytest.mark.parametrize(
    "function",
    [in_table, counts, with_list, tagged, closing([1]), closing(object()), eval("lambda x: x", {})],
    ids=["table", "global", "default", "attribute", "closure", "object", "no source"],
)
def test_no_text_where_it_would_not_say_all(function: Any) -> None:
    assert texts(function) == {}


def test_what_needs_a_function_without_text_has_none() -> None:
    assert texts(closing(in_table), double).keys() == {"double"}


def test_two_functions_of_one_name_have_none() -> None:
    several: list[Any] = [closing(1), closing(2)]
    assert texts(*several) == {}
    one: Any = closing(1)
    assert len(texts(one, one)) == 1


def test_not_very_many(tmp_path: Path) -> None:
    names = [f"f{n}" for n in range(MOST_TEXTS + 1)]
    file = tmp_path / "many.py"
    file.write_text("".join(f"def {name}(x):\n    return x\n" for name in names))
    space: dict[str, Any] = {}
    exec(compile(file.read_text(), str(file), "exec"), space)
    assert len(texts(*[space[name] for name in names[:-1]])) == MOST_TEXTS
    assert texts(*[space[name] for name in names]) == {}


class Holds:
    __slots__ = ("act", "kept")

    def __init__(self) -> None:
        self.act = double
        self.kept = {"a": [twice]}

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError("nothing of the program's is run")


def test_functions_are_found_in_what_holds_them() -> None:
    part = functools.partial(limited, root)
    found = reached_from([Holds(), (1, [part]), int, len, "text", stored]).code
    assert {each.__name__ for each in found} == {"double", "twice", "limited", "root", "Holds"}
    assert [each for each in found if type(each) is not FunctionType] == [Holds]
    circle: list[Any] = [double]
    circle.append(circle)
    assert reached_from([circle]).code == (double,)
