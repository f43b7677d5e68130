import pandas as pd

seen = []


def double(x):
    seen.append(x)
    return 2 * x


s = pd.Series([1, 2, 3], name="n").apply(double)
print(s.tolist(), seen, s.name)
print(pd.DataFrame({"a": [1, 2]}).assign(b=lambda d: d.a + 1).query("b > 2"))
