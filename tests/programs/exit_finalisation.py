"""The end of the interpreter: module globals go in order, __del__ and weakref.finalize still print."""

import weakref


class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name, Loud is not None)


class Cycle(Loud):
    def __init__(self, name):
        super().__init__(name)
        self.me = self


b = Loud("b")
a = Loud("a")
_private = Loud("_private")
c = [Loud("in list"), b]
d = Cycle("cycle")
weakref.finalize(a, print, "finalize a")
weakref.finalize(d, print, "finalize d").atexit = False


def f(default=Loud("default")):
    pass


del c
print("end of program")
