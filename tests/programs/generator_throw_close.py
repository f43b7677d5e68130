"""Generators: throw, close, GeneratorExit, an exception that leaves, yield in finally."""


def worker():
    n = 0
    while True:
        try:
            n += 1
            yield n
        except ValueError as error:
            print("caught", error)
        except GeneratorExit:
            print("closing")
            raise
        finally:
            print("finally", n)


a = worker()
print(next(a), a.throw(ValueError("thrown")), next(a))
a.close()
a.close()
print(next(a, "finished"))
b = worker()
next(b)
try:
    b.throw(KeyError("out"))
except KeyError as error:
    print("left by", error)


def stubborn():
    try:
        yield 1
    finally:
        yield 2


c = stubborn()
next(c)
try:
    c.close()
except RuntimeError as error:
    print(error)
d = worker()
d.close()
print("closed before it started", next(d, "finished"))
