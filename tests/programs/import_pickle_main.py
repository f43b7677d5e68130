"""pickle and copy find classes by name in __main__: the program must really be the main module."""

import copy
import pickle

copies = []


class Point:
    def __init__(self, x, y=None):
        self.x, self.y = x, y

    def __reduce__(self):
        copies.append("reduce")
        return Point, (self.x, self.y)

    def __deepcopy__(self, memo):
        copies.append("deepcopy")
        return Point(copy.deepcopy(self.x, memo), self.y)


def f():
    return 23


a = Point([25], 26)
b = pickle.loads(pickle.dumps(a))
c = copy.copy(a)
d = copy.deepcopy([a, a])
print(b.x, b.x is a.x, c.x is a.x, d[0] is d[1], copies)
print(pickle.loads(pickle.dumps(f)) is f, pickle.loads(pickle.dumps(Point)) is Point)
try:
    pickle.dumps(lambda: 0)
except (pickle.PicklingError, AttributeError) as error:
    print("cannot pickle a lambda")
