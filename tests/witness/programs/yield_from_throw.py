def inner():
    try:
        got = yield 1
    except KeyError as e:
        got = yield 2
    yield 3
    return got
def outer():
    kept = []
    try:
        kept.append((yield from inner()))
    except ValueError as e:
        kept.append(e.args)
        yield kept
    return kept
def main():
    g = outer()
    next(g)
    r = g.throw(KeyError('k'))
    x = 1
    r = g.send(5)
    x = 2
    r = g.throw(ValueError(1))
    x = 3
    g.close()
    x = 4
    g = outer()
    next(g)
    g.close()
    x = 5
    g = outer()
    next(g)
    try:
        g.throw(TypeError)
    except TypeError as e:
        x = 6
    return x
main()
end = 1
