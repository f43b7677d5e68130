"""Values that are not shown, with and without operators, attributes and methods that change what is shown."""

import random
import threading


def main():

    class R(random.Random):
        def twice(self):
            return 2 * self.random()

    rng = R(1)
    rng.x = [1]
    d = vars(rng)
    rng.x.append(2)
    rng.y = 3
    d["z"] = 4
    del rng.y
    class Node:
        def __init__(self, v):
            self.v = v
            self.next = None
    root = Node(0)
    node = root
    items = [3, 1, 2]
    for i in range(5):
        if node.v < rng.random():
            node.next = Node(i)
            node = node.next
        rng.shuffle(items)
        rng.held = items
        items[0] += 1
        node.v += rng.randint(0, 9)
    def pick(r, xs):
        xs.append(r.choice(xs))
        r.xs = xs
        xs[-1] = 0
        return f"{r.x} {len(xs)}"
    print(pick(rng, items))
    class Odd(random.Random):
        def __lt__(self, other):
            items.append("lt")
            return True
        def __format__(self, spec):
            items.append("format")
            return spec
        @property
        def prop(self):
            items.append("prop")
            return 1
        def __getattr__(self, name):
            items.append(name)
            return name
    odd = Odd(2)
    if odd < 3:
        f"{odd:q}"
        odd.prop
        odd.nothing
    lock = threading.Lock()
    with lock:
        items.append(1)
    def change(*args):
        items.clear()
        return 0.5
    rng.random = change
    rng.shuffle(items)
    y = rng.random()
    rng.choice = items.append
    rng.choice(8)
    class Desc:
        def __get__(self, o, c=None):
            items.append("desc")
            return 1
    class D2(random.Random):
        d = Desc()
    d2 = D2()
    d2.d
    z = d2.d + 1


main()
