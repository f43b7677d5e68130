"""match: literals, captures, sequences, mappings, classes, or, as, guards, values, wildcards."""

import collections
import enum

Point = collections.namedtuple("Point", "x y")
Colour = enum.Enum("Colour", "RED GREEN")


class Car:
    __match_args__ = ("make", "year")

    def __init__(self, make, year):
        self.make, self.year = make, year


def kind(subject):
    match subject:
        case 0 | 1: return "bit"
        case True | None: return "singleton"
        case -3.5: return "literal"
        case Colour.RED: return "value"
        case str() as s if s.isupper(): return f"shout {s}"
        case str(s): return f"text {s}"
        case []: return "empty"
        case [x]: return f"one {x}"
        case Point(x=0, y=y): return f"axis {y}"
        case [x, *rest, Point() as last]: return f"{x} {rest} {last.y}"
        case [_, _, *_]: return "many"
        case {"op": op, "args": [a, b], **rest}: return f"{op} {a} {b} {rest}"
        case {}: return "mapping"
        case Car("T", year=y) if y < 1930: return f"old {y}"
        case Car(make, year): return f"{make} {year}"
        case _: return "other"


for subject in (0, True, None, -3.5, Colour.RED, Colour.GREEN, "UP", "low", [], [9], Point(0, 5), (1, 2, Point(3, 4)),
                range(3), {"op": "+", "args": [1, 2], "k": 3}, {1: 2}, Car("T", 1910), Car("T", 1999), {1}, b"ab"):
    print(kind(subject))
