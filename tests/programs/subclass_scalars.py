"""str, int, float and bytes subclasses that override everything: their plain value is inside."""


class Text(str):
    def __str__(self):
        print("str called")
        return "changed"

    __repr__ = __str__

    def __len__(self):
        print("len called")
        return 1000

    def __eq__(self, other):
        print("eq called")
        return False

    def __hash__(self):
        print("hash called")
        return 7


class Number(int):
    def __repr__(self):
        print("int repr called")
        return "forty-two"

    def __add__(self, other):
        return Number(int(self) + other)

    def __bool__(self):
        print("int bool called")
        return False


t = Text("text")
n = Number(29)
d = {t: n}
print("made")
print(str.__len__(t), int(n), t.upper(), f"{n:d}", n + 1, "%s" % t, "text" in d, [n])
print(n == 29, not n, str.__str__(t) == "text", type(t + "x").__name__, type(n + 1).__name__)
n += 4
print(int(n), type(n).__name__, isinstance(True, Number))
