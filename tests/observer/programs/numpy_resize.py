import numpy as np


def grow(n):
    a = np.arange(n)
    a.resize(n + 2)
    return a


print(grow(3).tolist())
b = np.zeros(2)
b.resize((2, 2))
print(b)
