"""Objects that nobody holds but the expression, and code in C, between two events."""


class P:
    def __init__(self, x):
        self.x = x

    def moved(self):
        other = P(self.x + 1)
        return other


def pairs(n):
    return [P(n), P(n + 1)]


p = P(1)
q = p.moved().moved()
many = list(map(P, range(3)))
a, b = pairs(5)
both = (P(1), P(2))
nested = P(P(3))
chosen = sorted([3, 1, 2], key=lambda n: P(n).x)
print(q.x, len(many), a.x, b.x, nested.x.x, chosen)
