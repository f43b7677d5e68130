"""Annotations: evaluated in modules and classes, never for locals; typing classes; __annotations__ of each."""

import typing


def note(name):
    print("evaluated", name)
    return name


a: note("a") = 11
b: note("b")


class C:
    c: note("c") = 16
    d: "not evaluated" = 17


def f(x: note("x"), *y: "y", z: typing.Optional[int] = None) -> note("return"):
    local: note("never") = 21
    other: undefined_name
    return local


class Movie(typing.TypedDict, total=False):
    title: str


T = typing.TypeVar("T")


class Box(typing.Generic[T]):
    item: T


print(__annotations__, "b" in globals(), C.__annotations__, f(1))
print(f.__annotations__["x"], f.__annotations__["return"], typing.get_type_hints(Movie))
print(Movie(title="t"), Movie.__total__, Box[int]().__orig_class__.__args__, typing.cast(int, "unchanged"))
