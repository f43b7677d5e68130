"""Keys whose hash or equality changes, and values that have no hash: lookups as the dict saw them."""


class Key:
    def __init__(self, n):
        self.n = n

    def __hash__(self):
        return self.n

    def __eq__(self, other):
        return isinstance(other, Key) and self.n == other.n


k = Key(13)
d = {k: "found"}
print(k in d, d.get(Key(13)))
k.n = 16
print(k in d, d.get(Key(13)), next(iter(d)) is k, len(d))
k.n = 13
print(d[k])
for value in ([], {}, set(), (1, [2]), bytearray()):
    try:
        {value: 1}
    except TypeError as error:
        print(error)
print({1: "a", True: "b", 1.0: "c"}, {float("nan"): 1, float("nan"): 2}.__len__(), {0.0: "z"}[-0.0])
