"""sys.setrecursionlimit just above the present depth: a guest that needs frames of its own would fall over."""

import sys


def depth_now():
    frame, n = sys._getframe(), 0
    while frame:
        frame, n = frame.f_back, n + 1
    return n


def down(n):
    global reached
    reached = n
    down(n + 1)


old = sys.getrecursionlimit()
sys.setrecursionlimit(depth_now() + 40)
try:
    down(0)
except RecursionError:
    a = "caught"
sys.setrecursionlimit(old)
print(a, 25 < reached < 45, sys.getrecursionlimit() == old)
