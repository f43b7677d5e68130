"""Lines with equal text in several places: the text alone does not tell where the program stands."""

x = 1
x += 1
x += 1
if x > 2:
    x += 1
else:
    x += 1
for i in range(2):
    x += 1
    x += 1
for i in range(2):
    x += 1
    x += 1


def f(x):
    x += 1
    return x


def g(x):
    x += 1
    return x


print(f(x), g(x), x)
print(f(x), g(x), x)
