import numpy as np

t = np.dtype([("name", "U5"), ("n", "i4")])
r = np.array([("ann", 3), ("bob", 1)], dtype=t)
r.sort(order="n")
print(r["name"].tolist(), r[0].item(), r.dtype.names)
print(np.rec.array(r).n.tolist())
