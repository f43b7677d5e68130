"""Operator overloading: binary, reflected, in-place, comparison, unary, conversion, containment."""


class V:
    def __init__(self, *log):
        self.log = log

    def __getattr__(self, name):
        raise AttributeError(name)


def method(name, result=None):
    def operator(self, *args, **kwargs):
        calls.append(name)
        return result if result is not None else V(*self.log, name)

    return operator


calls = []
for name in ("add", "radd", "iadd", "sub", "mul", "matmul", "neg", "invert", "getitem", "call", "lt", "and", "pow", "divmod"):
    setattr(V, f"__{name}__", method(name))
for name, result in (("bool", True), ("len", 3), ("contains", True), ("int", 7), ("index", 2), ("float", 1.5), ("abs", 4)):
    setattr(V, f"__{name}__", method(name, result))
v = w = V("v")
print((v + 1).log, (1 + v).log, (v - v * v @ v).log, (-v).log, (~v)[0](1, k=2).log, (v < v).log)
v += 1
print(v.log, w.log, (v & w if v else w).log, len(v), 5 in v, int(v), "abc"[w], float(v), abs(v), [10, 20, 30][w], (v**2).log)
print(divmod(v, 2).log, not v, (v < v < v).log, range(w), hex(w))
print(calls)
