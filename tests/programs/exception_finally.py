"""return, break and continue in finally: they win over an exception and over another return."""

import sys
import warnings

warnings.simplefilter("ignore")


def returns():
    try:
        return print("evaluated") or "from try"
    finally:
        return "from finally"


def swallows():
    try:
        raise ValueError("lost")
    finally:
        return "swallowed"


def loops():
    turns = []
    for i in range(5):
        try:
            turns.append(i)
            if i == 1:
                1 / 0
            if i == 3:
                return "never"
        finally:
            if i == 1:
                continue
            if i == 3:
                break
    return turns, sys.exc_info()


def late(x=1):
    try:
        return x
    finally:
        x = 2


print(returns(), swallows(), loops(), late())
