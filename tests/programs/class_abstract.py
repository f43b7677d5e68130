"""abc, Protocol, a Mapping of one's own: methods that the library calls on the program's behalf."""

import abc
import collections.abc
import typing


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self):
        return 10

    def describe(self):
        return f"area {self.area()}"


class Square(Shape):
    def area(self):
        return super().area() + 8


@typing.runtime_checkable
class Sized(typing.Protocol):
    def size(self): ...


class Squares(collections.abc.Mapping):
    calls = []

    def __getitem__(self, key):
        self.calls.append(key)
        if key not in (1, 2):
            raise KeyError(key)
        return key * key

    def __iter__(self):
        return iter((1, 2))

    def __len__(self):
        return 2


try:
    Shape()
except TypeError as error:
    print(type(error).__name__)
print(Square().describe(), isinstance(Square(), Sized), dict(Squares()), 5 in Squares(), list(Squares().items()), Squares.calls)
