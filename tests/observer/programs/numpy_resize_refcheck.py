import numpy as np

a = np.arange(4)
b = a
try:
    a.resize(9)
except ValueError as e:
    print(str(e).split("\n")[0])
del b
a.resize(6)
print(a, a.base is None, a.flags.owndata)
