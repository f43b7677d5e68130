import sys


def depth(n=0):
    try:
        return depth(n + 1)
    except RecursionError:
        return n


class A:
    def __init__(self, n):
        self.n = n

    def go(self):
        try:
            return A(self.n + 1).go()
        except RecursionError:
            return self.n


print(depth(), A(0).go(), sys.getrecursionlimit())
sys.setrecursionlimit(300)
print(depth(), A(0).go())
