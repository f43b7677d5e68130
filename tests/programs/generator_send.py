"""Generators: next, send, the value of yield, return value in StopIteration."""


def averager():
    total = count = 0
    average = None
    while True:
        value = yield average
        if value is None:
            return total, count
        total += value
        count += 1
        average = total / count


a = averager()
print(next(a), a.send(10), a.send(20), a.send(60))
try:
    next(a)
except StopIteration as stop:
    print("returned", stop.value)
print(next(a, "exhausted"))
b = averager()
try:
    b.send("too early")
except TypeError as error:
    print(error)


def echo():
    got = []
    while len(got) < 3:
        got.append((yield (yield len(got))))
    return got


c = echo()
print([c.send(x) for x in (None, "a", "b", "c", "d")], c.gi_frame.f_locals["got"])
