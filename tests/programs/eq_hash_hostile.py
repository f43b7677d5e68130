"""__eq__, __hash__, __bool__ and __len__ that print, raise or mutate: comparing is a visible act."""


class Touchy:
    def __init__(self, name):
        self.name = name

    def __eq__(self, other):
        print("eq", self.name)
        return NotImplemented

    def __hash__(self):
        print("hash", self.name)
        return 1

    def __bool__(self):
        print("bool", self.name)
        raise RuntimeError("neither true nor false")

    def __len__(self):
        print("len", self.name)
        return -1


class Always:
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: True


a = Touchy("a")
b = Touchy("b")
held = [a, b, (a, b), {"k": a}]
print("made")
print(a == b, a in held, b in held[:1], held.index(b))
table = {a: 1, b: 2}
print(table[a])
for ask in (bool, len, all):
    try:
        ask([a] if ask is all else a)
    except (RuntimeError, ValueError) as error:
        print(error)
c = Always()
print(c == None, c != c, c in [], None in [c])
