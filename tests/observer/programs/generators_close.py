def g():
    try:
        while True:
            try:
                x = yield 1
            except KeyError as e:
                print("key", e)
    finally:
        print("closing")


it = g()
next(it)
it.throw(KeyError("a"))
it.close()


def outer():
    r = yield from inner()
    print("got", r)


def inner():
    yield 1
    return 2


print(list(outer()))
h = g()
next(h)
del h
print("end")
