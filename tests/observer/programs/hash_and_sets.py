s = {"b", "a", "c"}
d = {k: len(k) for k in ["x", "yy"]}
print(sorted(s), d, {1: "a", 1.0: "b", True: "c"}, hash((1, 2)) == hash((1, 2)))
print([*{3: 1, 1: 2}], {**d, "x": 9}, frozenset([1]) | {2})
