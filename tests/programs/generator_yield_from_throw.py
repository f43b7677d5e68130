"""yield from, with exceptions thrown in: who is there while the inner one goes on."""


def inner(n):
    kept = [n]
    try:
        yield kept
    except ValueError as error:
        kept.append(str(error))
        yield "caught"
    finally:
        kept.append("end")
    return "result"


def outer(n):
    got = yield from inner(n)
    x = 1
    got = yield from [got]
    return x


def handles(n):
    try:
        yield from inner(n)
    except KeyError:
        x = 2
        yield x
    yield from Steps()


class Steps:
    def __init__(self):
        self.n = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.n += 1
        if self.n > 30:
            raise StopIteration(self.n)
        return self.n

    def throw(self, kind, value=None, traceback=None):
        self.n += 10
        return "thrown"

    def close(self):
        self.n = -1


def held():
    source = inner(5)
    yield from source
    x = 1
    yield x


def deep(n):
    if n:
        yield from deep(n - 1)
    else:
        yield from inner(0)


def drive(generator, *exceptions):
    seen = [next(generator)]
    for exception in exceptions:
        try:
            seen.append(generator.throw(exception))
        except BaseException as error:
            seen.append(type(error).__name__)
    try:
        seen.append(generator.send(None))
    except StopIteration as stop:
        seen.append(stop.value)
    generator.close()
    return seen


print(drive(outer(1), ValueError("v")))
print(drive(outer(1), KeyError("k")))
print(drive(handles(2), KeyError("k"), ValueError("w")))
print(drive(handles(2), ValueError("k"), KeyError("w")))
print(drive(held(), ValueError("h")))
print(drive(deep(3), ValueError("d"), ValueError("e")))
g = handles(7)
next(g)
g.close()
steps = handles(3)
next(steps)
steps.throw(KeyError)
print(next(steps), steps.throw(ValueError("s")), next(steps))
both = (value for value in outer(2))
next(both)
try:
    both.throw(RuntimeError("r"))
except RuntimeError as error:
    print(error)
