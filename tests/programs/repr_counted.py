"""__repr__, __str__ and __format__ that count and print: they run when the program asks, never otherwise."""

calls = []


class Counted:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        calls.append("repr")
        print("repr of", self.name)
        return f"Counted({self.name!r})"

    def __str__(self):
        calls.append("str")
        return self.name

    def __format__(self, spec):
        calls.append(f"format {spec}")
        return self.name + spec


def work(item):
    items = [item, item]
    table = {"k": items}
    local = (table, item)
    return len(local)


a = Counted("a")
print(work(a), calls)
print(a, [a], f"{a:>} {a!s} {a!r:.3}")
print(calls)
