"""__del__ runs at the very line that drops the last reference: rebinding, del, leaving a function, popping."""


class Loud:
    def __init__(self, name):
        self.name = name
        print("made", name)

    def __del__(self):
        print("del", self.name)


a = Loud("a1")
a = Loud("a2")
print("rebound")
b = a
del a
print("still held by b")
b = None
print("gone")


def f(argument):
    first = Loud("first")
    second = Loud("second")
    argument = None
    print("argument dropped")
    return second.name


print(f(Loud("argument")))
c = [Loud("c0"), Loud("c1")]
c.pop()
c[0] = Loud("c2")
c.clear()
for d in [Loud("d0"), Loud("d1")]:
    print("loop", d.name)
print("after the loop")
del d
Loud("temporary").name
_ = Loud("underscore"), print("in tuple")
_ = None
print("end")
