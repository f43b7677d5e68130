"""dict subclasses: __missing__, items and keys of their own, attribute access, __setitem__ that counts."""


class Missing(dict):
    def __missing__(self, key):
        print("missing", key)
        self[key] = len(self)
        return self[key]


class Lying(dict):
    def items(self):
        print("items called")
        return [("not", "true")]

    def keys(self):
        print("keys called")
        return ["made up"]

    def __iter__(self):
        print("iter called")
        return iter(())

    def __getitem__(self, key):
        print("getitem called", key)
        return "whatever"


class Attributes(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


m = Missing(a=0)
print(m["b"], m["b"], m.get("c"), "c" in m, "%(d)s" % m, m)
d = Lying(real=1)
print("made")
print(dict.__len__(d), dict(d), list(d), [*d.items()], dict.items(d))
a = Attributes(x=34)
a.y = a.x + 1
print(a, a.y, vars(a))
