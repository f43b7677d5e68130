"""list, tuple and set subclasses with their own __iter__, __len__, __getitem__, __repr__: what they say is not what they hold."""


class Lying(list):
    def __iter__(self):
        print("iter called")
        return iter(["not", "true"])

    def __len__(self):
        print("len called")
        return 99

    def __getitem__(self, i):
        print("getitem called", i)
        return "no"

    def __repr__(self):
        print("repr called")
        return "Lying()"


class Pair(tuple):
    def __new__(cls, a, b):
        return super().__new__(cls, (a, b))

    def __eq__(self, other):
        print("eq called")
        return False


class Bag(set):
    def __contains__(self, item):
        print("contains called")
        return True


a = Lying([1, 2, 3])
b = Pair(a, 4)
c = Bag([5])
print("made")
print(list.__len__(a), list.__getitem__(a, 0), tuple.__len__(b), 7 in c)
a.append(4)
print([x for x in a], len(a), a[0], b == b, list.__repr__(a))
