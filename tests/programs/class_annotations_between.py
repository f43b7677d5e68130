"""Class bodies with annotations: the function that tells them is made on no line of the program."""

from dataclasses import dataclass


@dataclass
class Order:
    number: int
    items: list[str]
    note: str = ""

    def size(self) -> int:
        return len(self.items)


class OneLine: kind: int = 3


class Nested:
    depth: int

    class Inner:
        name: str = "inner"
        other: "Nested" = None

    wide: dict[
        str,
        int,
    ] = {
        "a": 1,
    }


class Chosen:
    if Order.__name__ == "Order":
        first: int = 1
    else:
        second: int = 2
    for third in range(2):
        fourth: int = third


def made(kind: type) -> type:
    class Local:
        value: kind
        size: int = 0

    return Local


print(Order(1, ["a", "b"]).size(), OneLine.kind, Nested.wide, Nested.Inner.name)
print(sorted(name for name in vars(Chosen) if not name.startswith("_")), made(int).size)
