"""from __future__ import annotations: they stay text, and names that do not exist do no harm."""

from __future__ import annotations

import dataclasses


def f(a: NoSuchName, b: list[NoSuchName] = ()) -> 1 / 0:
    return f.__annotations__


@dataclasses.dataclass
class Node:
    value: int = 14
    next: Node | None = None


c: also.does["not"].exist = 18
print(f(1), __annotations__, Node(19, Node()), [field.type for field in dataclasses.fields(Node)])
