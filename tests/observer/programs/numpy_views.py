import numpy as np

a = np.arange(12).reshape(3, 4)
v = a[:, 1]
v[:] = -1
print(a, v.base is a.base, np.shares_memory(a, v))


def total(m):
    s = 0
    for row in m:
        for x in row:
            s += int(x)
    return s


print(total(a), a.sum(axis=0).tolist())
