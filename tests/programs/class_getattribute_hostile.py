"""__getattribute__ that counts, and one that raises for every name, even __class__ and __dict__."""

count = 0


class Counting:
    def __getattribute__(self, name):
        global count
        count += 1
        return object.__getattribute__(self, name)


class Closed:
    def __getattribute__(self, name):
        raise RuntimeError(f"asked for {name}")


a = Counting()
a.x = 19
b = Closed()
c = [a, b, (a, b)]
print(a.x, a.x + 1, count)
for name in ("__class__", "__dict__", "anything"):
    try:
        getattr(b, name)
    except RuntimeError as error:
        print(error)
try:
    isinstance(b, int)
except RuntimeError as error:
    print(error)
print(type(b).__name__, len(c), count)
