"""__getattr__, __setattr__, __delattr__ and __dir__ that count: nobody may ask for attributes but the program."""

calls = []


class Recorder:
    def __init__(self):
        object.__setattr__(self, "known", 8)

    def __getattr__(self, name):
        calls.append(("get", name))
        if name.startswith("no"):
            raise AttributeError(name)
        return name.upper()

    def __setattr__(self, name, value):
        calls.append(("set", name))
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        calls.append(("del", name))

    def __dir__(self):
        calls.append(("dir",))
        return ["x"]


r = Recorder()
print(r.known, r.unknown, hasattr(r, "nope"), getattr(r, "no", "default"))
r.known = 32
del r.known
other = [r, {"key": r}]
print(dir(r), r.known, len(other))
print(calls)
