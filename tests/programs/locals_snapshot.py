"""`d = locals()` kept while the locals change afterwards: the snapshot stays as it was."""


def main(a):
    b = [a]
    d = locals()
    print(sorted(d))
    a = 8
    c = 9
    b.append(10)
    b = "rebound"
    print(d["a"], d["b"], "c" in d, "d" in d)
    for i in range(3):
        c += i
    print(d["a"], d["b"], "c" in d, "i" in d)
    d["a"] = "written"
    return a, b, c


print(main(3))


def with_cell(x):
    d = locals()
    step = lambda: x
    x = 26
    y = 27
    return d["x"], step(), "y" in d


print(with_cell(1))
e = locals()
e["f"] = 32
print(f, e is globals())


class Body:
    g = 38
    locals()["h"] = g + 1


print(Body.h)
