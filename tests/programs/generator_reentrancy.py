"""A generator that asks itself for its next value, and one closed by itself: both are refused."""


def selfish():
    yield 1
    yield next(me)


me = selfish()
print(next(me))
try:
    next(me)
except ValueError as error:
    print(error)


def suicidal():
    try:
        own.close()
    except ValueError as error:
        yield str(error)
    yield "goes on"


own = suicidal()
print(next(own), next(own), next(me, "ended by its own error"))
