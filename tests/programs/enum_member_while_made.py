"""Members of enumerations while they are made, and renamed: their text tells of an attribute, whoever holds them."""

import collections
import enum

kept = []
by_number = {}
last = None


class Holder:
    pass


holder = Holder()
queue = collections.deque()


def held(member):
    def inner():
        return member

    return inner


def make():
    local = {}

    class Planet(enum.Enum):
        A = (1, 2)
        B = (3, 4)

        def __new__(cls, mass, radius):
            global last
            obj = object.__new__(cls)
            obj._value_ = mass
            kept.append(obj)
            by_number[mass] = obj
            local[mass] = (obj, [obj])
            holder.member = obj
            queue.append(obj)
            holder.closure = held(obj)
            last = obj
            count = len(kept)
            return obj

        def __init__(self, mass, radius):
            self.mass = mass
            step = 1
            self.radius = radius

    class Access(enum.Flag):
        READ = 1
        WRITE = 2

    both = Access.READ | Access.WRITE
    return local, both


found, both = make()
first = kept[0]
first._name_ = "Z"
step = 1
setattr(first, "_name_", "Y")
step = 2
names = vars(first)
names["_name_"] = "X"
step = 3
names.update(_name_="W")
step = 4
del first._name_
step = 5


def rename(member, others):
    for number in range(3):
        member._name_ = f"N{number}"
        others.append(number)
    return others


rename(by_number[3], [])
rename(found[1][1][0], [found])
