"""Objects held by a suspended generator, a closure cell, a default, a bound method: when each lets go."""


class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)

    def method(self):
        return self.name


def generator():
    held = Loud("generator local")
    yield held.name
    del held
    yield "deleted"


def closure():
    cell = Loud("cell")
    unused = Loud("unused")
    return lambda: cell.name


g = generator()
print(next(g), next(g))
f = closure()
print(f())
f = None
m = Loud("bound").method
print(m())
m = None
h = lambda x=Loud("default"): x
del h
i = iter([Loud("in iterator")])
x = next(i)
del i
print("iterator gone")
x = None
j = map(Loud.method, [Loud("in map")])
print(next(j))
j = None
print("end")
