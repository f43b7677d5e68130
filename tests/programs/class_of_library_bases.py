"""Private attributes of classes that derive from a library's: abc, Generic, Protocol, Mapping, Thread, JSONEncoder."""

import abc
import collections.abc
import fractions
import json
import threading
import typing

T = typing.TypeVar("T")


class Stack(typing.Generic[T]):
    def __init__(self):
        self._items = []

    def push(self, item):
        self._items.append(item)
        return self

    def pop(self):
        return self._items.pop()


class Account(abc.ABC):
    __slots__ = ("_balance", "__secret")

    def __init__(self, balance):
        self._balance = balance
        self.__secret = [balance]

    def pay(self, amount):
        self._balance -= amount
        self.__secret.append(self._balance)
        return self.__secret


class Named(typing.Protocol):
    _name: str


class Cat(Named):
    def __init__(self, name):
        self._name = name


class Table(collections.abc.MutableMapping):
    def __init__(self):
        self._rows = {}

    def __getitem__(self, key):
        return self._rows[key]

    def __setitem__(self, key, value):
        self._rows[key] = value

    def __delitem__(self, key):
        del self._rows[key]

    def __iter__(self):
        return iter(self._rows)

    def __len__(self):
        return len(self._rows)


class Worker(threading.Thread):
    def __init__(self, number):
        super().__init__(name="worker")
        self._number = number

    def run(self):
        self._number *= 2


class Encoder(json.JSONEncoder):
    _seen = 0

    def default(self, o):
        self._seen += 1
        return sorted(o)


stack = Stack[int]().push(1).push(2)
print(stack.pop(), stack._items)
account = Account(10)
print(account.pay(3), account._balance)
cat = Cat("Mia")
cat._name += "!"
table = Table()
table.update(a=1, b=2)
table.setdefault("c", []).append(3)
del table["a"]
print(cat._name, dict(table), table.popitem())
worker = Worker(21)
worker.run()
worker._number += 1
encoder = Encoder()
print(worker._number, encoder.encode([{1}, {2, 3}]), encoder._seen)
half = fractions.Fraction(1, 2)
half += fractions.Fraction(1, 3)
print(half)
