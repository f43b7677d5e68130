"""Functions among a call's arguments: their text says all that a reader needs, or they have none."""

import functools
import math
import operator
from pathlib import Path
from types import FunctionType
from typing import Any, ClassVar

import pytest

from deskcheck.tracer.callables.reached import reached_from
from deskcheck.tracer.callables.texts import MOST_TEXTS, texts_of

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


class Base:
    """Some
    lines."""

    step = LIMIT
    table: ClassVar[dict[str, list[int]]] = {"a": [1]}

    def first(self, most: int = LIMIT) -> int:
        return min(most, self.step)

    @property
    def double(self) -> int:
        return double(self.step)


class Derived(Base):
    __slots__ = ("size",)

    def first(self, most: int = 0) -> int:
        return super().first() + root(most)  # type: ignore[no-any-return]


class Meta(type):
    pass


class WithMeta(metaclass=Meta):
    pass


@functools.total_ordering
class Decorated:
    def __lt__(self, other: Any) -> bool:
        return True


class Reads:
    def get(self) -> int:
        return TABLE["a"]


class Counts:
    if LIMIT:
        size = 1


class WithDescriptor:
    get = functools.cached_property(double)


class Given:
    pass


Given.get = double  # type: ignore[attr-defined]


class WithData:
    kept: ClassVar[list[int]] = []


WithData.more = (1, 2)  # type: ignore[attr-defined]
WithData.kept.append(4)


class Wrapped(property):
    pass


def test_a_class_with_what_it_extends_and_uses() -> None:
    found = texts(Derived)
    assert found.keys() == {"Derived", "Base", "root", "double"}
    assert found["Base"].startswith('class Base:\n    """..."""\n    step = LIMIT')
    notes = [line for line in found["Base"].splitlines() if line.startswith("# ")]
    assert notes == ["# LIMIT = 3", "# Base.step = 3"], "the table is as the text gives it"
    assert "return super().first() + root(most)" in found["Derived"]
    assert texts(WithData)["WithData"].splitlines()[-2:] == [
        "# WithData.kept = [4]",
        "# WithData.more = (1, 2)",
    ]


def test_a_class_of_the_program_needs_no_text() -> None:
    told, own = texts_of([Derived], lambda code: code is Base or code is root)
    assert told.keys() == {"Derived"}
    assert own == [Base, root]


@pytest.mark.parametrize(
    "cls",
    [WithMeta, Decorated, Reads, Counts, WithDescriptor, Given, Wrapped, Meta, int, type("Made", (), {})],
)
def test_no_text_of_a_class_where_it_would_not_say_all(cls: type) -> None:
    assert texts(cls) == {}


def test_two_classes_of_one_name_have_none() -> None:
    def made() -> type:
        class Local:
            pass

        return Local

    one, other = made(), made()
    assert texts(one).keys() == {f"{made.__qualname__}.<locals>.Local"}
    assert texts(one, other) == {}


def test_objects_that_hide_something() -> None:
    assert reached_from([Wrapped(double)]).hides
    assert not reached_from([Derived(), [Base()], KeyError(1)]).hides
    assert set(reached_from([{"a": Derived()}]).code) == {Derived}


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
