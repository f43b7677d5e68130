"""Objects whose __class__ lies, whose __dict__ raises, whose class has no honest name."""


class Liar:
    @property
    def __class__(self):
        print("class asked")
        return int

    @property
    def __dict__(self):
        raise RuntimeError("dict asked")


class Meta(type):
    def __instancecheck__(cls, obj):
        print("instance of", type.__repr__(cls)[8:20], "?")
        return True

    def __getattribute__(cls, name):
        if name in ("__name__", "__module__", "__qualname__"):
            raise RuntimeError(f"asked for {name}")
        return super().__getattribute__(name)

    def __repr__(cls):
        raise RuntimeError("repr of the class")

    __hash__ = None

    def __eq__(cls, other):
        raise RuntimeError("eq of the class")


class Anonymous(metaclass=Meta):
    pass


a = Liar()
b = Anonymous()
print(type(a) is Liar, isinstance(a, int), isinstance(a, Liar))
print(isinstance(5, Anonymous), type(b) is Anonymous, hasattr(b, "x"))
c = {"a": [a], "b": (b,)}
del a, b
print("done", len(c))
