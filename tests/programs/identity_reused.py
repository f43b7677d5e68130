"""Objects that die and are born at the same address: equal ids, but not the same object."""


class Temporary:
    made = 0

    def __init__(self):
        Temporary.made += 1
        self.n = Temporary.made


def one():
    t = Temporary()
    return t.n


print([one() for _ in range(5)])
ns = []
for _ in range(5):
    t = Temporary()
    ns.append(t.n)
    del t
print(ns)
a = [1]
b = a
del a, b
c = [1]
d = [1]
print(c is d, c == d, Temporary().n, Temporary() is Temporary())
