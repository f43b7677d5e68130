import threading, random, sys

sys.modules.pop("random")
import random as r2

print(r2 is random, threading.current_thread().name)
import enum, dataclasses


class C(enum.IntEnum):
    A = 1


print(C.A + 1, isinstance(C.A, enum.Enum), enum.EnumMeta is type(C))
