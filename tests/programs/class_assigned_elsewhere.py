"""An object gets another class in a function, while other frames hold it: it is another object to all of them."""


class Old:
    shared = []

    def __init__(self):
        self.n = 1


class New:
    def __init__(self):
        self.n = 2


class Slots:
    __slots__ = ("held",)


def turn(o):
    o.__class__ = New


def turn_by_name(o):
    setattr(o, "__class__", Old)


def turn_and_raise(o):
    turn(o)
    missing


def turn_late(o):
    yield 1
    turn(o)
    yield 2


def holding(o, how):
    by_key = {o: 1}
    by_value = {1: o}
    in_set = {o}
    in_list = [[o]]
    in_tuple = (o, [o])
    other = Old()
    other.held = o
    slots = Slots()
    slots.held = o
    Old.shared.append(o)
    closed = lambda: o
    try:
        for found in how(o) or ():
            last = found
    except NameError:
        caught = 1
    after = 2
    by_key[2] = after
    in_list.append(after)
    return by_value


def deep(o, how):
    mine = {"o": o}
    holding(o, how)
    mine["after"] = 1
    return mine


everywhere = {}
for how in (turn, turn_by_name, turn_and_raise, turn_late):
    one = Old()
    everywhere[how.__name__] = one
    also = {1: {2: one}}
    kept = holding(one, how)
    kept = deep(Old(), how)
    turn_by_name(one)
    turn(one)
    end = also
