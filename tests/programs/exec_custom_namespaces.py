"""exec with mappings of the program's own as locals and globals: every access runs its code."""

from collections import UserDict


class Watching(UserDict):
    log = []

    def __getitem__(self, key):
        self.log.append(f"get {key}")
        return super().__getitem__(key)

    def __setitem__(self, key, value):
        self.log.append(f"set {key}")
        super().__setitem__(key, value)

    def __iter__(self):
        self.log.append("iter")
        return super().__iter__()

    def keys(self):
        self.log.append("keys")
        return super().keys()


class Default(dict):
    def __missing__(self, key):
        return f"<{key}>"


space = Watching()
exec("a = 1\nb = a + 1\nfor i in [b]:\n    c = i\ndel a", {}, space)
print(space.log, sorted(space.data.items()))
print(eval("x, len", {}, Default()))
own = {"__builtins__": {"len": lambda x: "fake len", "print": print}}
exec("print(len('abc'))", own)
try:
    exec("a = 30\nprint(open)", own)
except NameError as error:
    print(error, own["a"])
