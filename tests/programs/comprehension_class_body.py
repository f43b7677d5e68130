"""Comprehensions in a class body and at module level: which names they see, which they leave behind."""

x = "module"


class C:
    x = "class"
    items = [1, 2]
    a = [i for i in items]
    b = [x for _ in items]
    c = [j for j in items if j > 1]
    d = {i: [k for k in range(i)] for i in items}
    e = (lambda: x)()
    f = list(i for i in items)

    def method(self, y=[n for n in items]):
        return [y, [x for _ in range(1)]]


print(C.a, C.b, C.c, C.d, C.e, C.f, C().method())
print([n for n in vars(C) if not n.startswith("__")])
print([__name__ for _ in range(1)], [x for x in [x]], x)
