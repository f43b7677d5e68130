"""Generators and coroutines that are closed while they wait in another: the exception passes through them."""


def inner(n):
    yield n
    yield n + 1
def outer(n):
    got = yield from inner(n)
    return got
def it():
    yield from [1, 2, 3]
async def b():
    await c()
class c:
    def __await__(self):
        yield 1
for f in (lambda: outer(1), it):
    g = f()
    next(g)
    g.close()
g = outer(4); next(g); del g
co = b(); co.send(None); co.close()
h = outer(3); next(h)
try:
    h.throw(KeyError)
except KeyError:
    pass
x = 1
