"""Frames kept by the program after they ended: their locals live on until frame.clear()."""

import sys


class Loud:
    def __del__(self):
        print("del")


def leave():
    a = Loud()
    b = 13
    return sys._getframe()


frame = leave()
print("returned", sorted(frame.f_locals), frame.f_lineno, frame.f_back is sys._getframe())
frame.clear()
print("cleared", sorted(frame.f_locals))


def running():
    try:
        sys._getframe().clear()
    except RuntimeError as error:
        print(error)


running()


def gen():
    c = Loud()
    yield sys._getframe()


g = gen()
frame = next(g)
print(sorted(frame.f_locals), frame.f_lineno, frame is g.gi_frame)
print("generator over", next(g, "finished"), g.gi_frame)
