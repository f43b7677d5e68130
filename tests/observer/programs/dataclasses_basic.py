from dataclasses import dataclass, field, asdict, replace


@dataclass(order=True, frozen=True)
class P:
    x: int
    tags: list = field(default_factory=list, compare=False)

    def __post_init__(self):
        self.tags.append(self.x)


p = P(2)
print(p, asdict(p), replace(p, x=5), p < P(3), hash(p) == hash(P(2)))
try:
    p.x = 1
except Exception as e:
    print(type(e).__name__, e)
