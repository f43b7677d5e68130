import enum


class C(enum.Enum):
    R = enum.auto()
    G = enum.auto()

    @property
    def low(self):
        return self.name.lower()


class F(enum.Flag):
    A = 1
    B = 2


print(list(C), C["R"].low, C(2), F.A | F.B, F(3) & F.A, C.R in C)
try:
    C(9)
except ValueError as e:
    print(e)
