"""random with a fixed seed: the global generator's numbers come in the program's order, nobody draws between."""

import random

random.seed(5)
a = [random.randint(1, 100) for _ in range(3)]
state = random.getstate()
b = random.random(), random.choice("abcdef")
random.setstate(state)
c = random.random(), random.choice("abcdef")
print(a, b == c, b)
deck = list(range(8))
random.shuffle(deck)
print(deck, random.sample(range(100), 3))
own = random.Random(14)
print(own.randrange(1000), random.Random(14).randrange(1000), round(own.gauss(0, 1), 6))
