"""A generator that yields what a loop of its own runs over: it lies on the value stack, too."""


def rounds(items):
    left = iter(items)
    for item in left:
        yield left
    yield from (left for _ in "ab")


class Kept:
    def __enter__(self):
        return self

    def __exit__(self, *problem):
        return True


def inside():
    with Kept() as kept:
        for part in (kept, [kept]):
            yield part
    while left := [1, 2]:
        yield left
        break


for found in rounds([1, 2, 3]):
    print(type(found).__name__)
for found in inside():
    print(type(found).__name__)
