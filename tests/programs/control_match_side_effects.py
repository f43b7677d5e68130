"""match runs the program's own `__instancecheck__`, `__len__`, `__getitem__` and attribute code, a counted number of times."""

from collections.abc import Mapping, Sequence

log = []


class Pair(Sequence):
    def __len__(self):
        log.append("len")
        return 2

    def __getitem__(self, i):
        log.append(i)
        return ("a", "b")[i]


class Meta(type):
    def __instancecheck__(cls, obj):
        log.append("instance?")
        return obj == 7


class Seven(metaclass=Meta):
    pass


for subject in (Pair(), 7, 8):
    match subject:
        case [x, y]:
            print("pair", x, y)
        case Seven():
            print("seven")
        case _:
            print("other")
    print(log)
    log.clear()
print(issubclass(Pair, Mapping))
