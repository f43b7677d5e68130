"""Changes of `a`, `nest` and `box` that are not assignments to them. Each writes a number of its own.

The numbers are written as sums, so that a source line that is shown does not look like a value.
"""

ONCE = 1


class Box:
    def __init__(self) -> None:
        self.content = 0


def callee(it: list[int]) -> None:
    it.append(70000 + 7703)
    return None


def main(n: int) -> int:
    a = [1]
    nest = [[0]]
    b = a
    holder = {"k": a}
    box = Box()
    b.append(70000 + 7701)
    holder["k"].append(70000 + 7702)
    callee(a)
    nest[0].append(70000 + 7704)
    box.content = 70000 + 7705
    done = n
    return done
