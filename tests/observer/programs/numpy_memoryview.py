import numpy as np, sys

a = np.arange(6, dtype="i2")
m = memoryview(a)
print(m.format, m.shape, m[2], m.tolist(), sys.getrefcount(a))
del m
print(sys.getrefcount(a), a.tobytes()[:4])
