"""A mutable default is one object for all calls; a default is evaluated once, where def runs."""


def append(x, target=[]):
    target.append(x)
    return target


a = append(9)
b = append(10)
c = append(11, [])
print(a, b, c, a is b, append.__defaults__)


def stamp(n=len(a)):
    return n


a.append("later")
print(stamp(), len(append(21)))
makers = [lambda x, i=i: (x, i) for i in range(3)]
late = [lambda x: (x, i) for i in range(3)]
print([m(0) for m in makers], [m(0) for m in late])
