"""dataclasses: generated __init__ and __repr__ (code without a source file), defaults, frozen, order, replace."""

import dataclasses


@dataclasses.dataclass
class Item:
    name: str
    price: float = 9.5
    tags: list = dataclasses.field(default_factory=list)
    secret: str = dataclasses.field(default="s", repr=False, compare=False)

    def __post_init__(self):
        self.total = self.price * 2


@dataclasses.dataclass(frozen=True, order=True, slots=True)
class Key:
    a: int
    b: int = 21


i = Item("i")
j = Item("i")
i.tags.append("t")
print(i, j, i == j, i.total)
k = Key(26)
try:
    k.a = 1
except dataclasses.FrozenInstanceError as error:
    print(error)
print(k < Key(26, 30), sorted([Key(2), Key(1)]), {k: "hashable"}[Key(26)], dataclasses.replace(k, b=0))
print(dataclasses.asdict(i), dataclasses.astuple(k), [f.name for f in dataclasses.fields(Item)])
