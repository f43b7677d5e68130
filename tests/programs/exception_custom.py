"""Exception classes with behaviour: __init__, __eq__, counted constructors, dynamic except clauses."""

made = []


class Coded(Exception):
    def __init__(self, code, *rest):
        made.append(code)
        super().__init__(code, *rest)
        self.code = code

    def __eq__(self, other):
        print("eq called")
        return True

    __hash__ = None


class Special(Coded):
    pass


def classes(*kinds):
    print("evaluated", len(kinds))
    return kinds


try:
    raise Special(21, "why")
except classes(KeyError, OSError):
    print("never")
except classes(Coded):
    print("matched", made)
try:
    raise Coded
except TypeError as error:
    print("constructor failed", made)
try:
    raise Coded(27) from Special(28)
except Coded as error:
    print(error.code, error.__cause__.code, error.args, repr(error), made)
try:
    raise [][0]
except IndexError as error:
    print(error)
