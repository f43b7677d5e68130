import pandas as pd

a = pd.DataFrame({"id": [1, 2], "x": [5, 6]})
b = pd.DataFrame({"id": [2, 3], "y": [7, 8]})
print(a.merge(b, how="outer", on="id").fillna(-1).astype(int).values.tolist())
try:
    a.merge(b, on="zz")
except KeyError as e:
    print("KeyError", e)
