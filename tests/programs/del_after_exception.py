"""An exception keeps the frames it passed through alive: __del__ runs when the handler ends, not before."""


class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


def fail(argument):
    local = Loud("local")
    raise ValueError(local.name)


def middle():
    own = Loud("own")
    fail(Loud("argument"))


try:
    middle()
except ValueError as error:
    print("handling", error)
print("handled")
kept = None
try:
    middle()
except ValueError as error:
    kept = error
print("kept")
kept = None
print("dropped")
try:
    middle()
except ValueError:
    print("handler that binds no name")
print("end")
