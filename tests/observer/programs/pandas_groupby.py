import pandas as pd

df = pd.DataFrame({"k": list("abab"), "v": [1, 2, 3, 4]})
print(df.groupby("k")["v"].agg(["sum", "mean"]))
print(df.pivot_table(index="k", values="v", aggfunc="max").to_dict())
