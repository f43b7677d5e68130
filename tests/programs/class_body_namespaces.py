"""Class bodies whose names live in a mapping of the metaclass's."""

import enum


class Colour(enum.Enum):
    RED = 1
    DARK = RED + 1

    def pretty(self):
        return self.name.lower()


class Listed(dict):
    def __setitem__(self, name, value):
        super().__setitem__(name, value)
        order.append(name)


class Meta(type):
    @classmethod
    def __prepare__(mcs, name, bases):
        return Listed()


order = []


class Ordered(metaclass=Meta):
    a = 1
    b = a + 1
    del a


class Other:
    """No dict at all."""

    def __init__(self):
        self.names = {}

    def __getitem__(self, name):
        return self.names[name]

    def __setitem__(self, name, value):
        self.names[name] = value


class OtherMeta(type):
    @classmethod
    def __prepare__(mcs, name, bases):
        return Other()

    def __new__(mcs, name, bases, namespace):
        return super().__new__(mcs, name, bases, dict(namespace.names))


class Strange(metaclass=OtherMeta):
    x = 1
    y = x + 1


print(Colour.DARK.pretty(), [name for name in order if not name.startswith("__")], Strange.y)
