"""Classes: inheritance, super, the order of methods in a diamond, class and instance attributes."""


class A:
    shared = []

    def __init__(self, x):
        self.x = x
        print("A.__init__")

    def who(self):
        return "A"


class B(A):
    def __init__(self, x, **more):
        print("B.__init__")
        super().__init__(x, **more)

    def who(self):
        return "B" + super().who()


class C(A):
    def who(self):
        return "C" + super(C, self).who()


class D(B, C):
    def who(self):
        call = super().who
        return "D" + call()


d = D(5)
d.shared.append(d.x)
print(d.who(), [k.__name__ for k in D.__mro__], A.shared, vars(d))
d.shared = "own"
print(A.shared, d.shared, isinstance(d, C), issubclass(C, B), D.__bases__ == (B, C))
