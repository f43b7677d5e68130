class P:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


def f(v):
    match v:
        case P(0, y):
            return "p0", y
        case [a, *rest] if rest:
            return "list", a, rest
        case {"k": k, **kw}:
            return "dict", k, kw
        case str() | bytes():
            return "text"
        case _:
            return "other"


print([f(v) for v in (P(0, 3), [1, 2], {"k": 1, "z": 2}, "a", 5)])
