"""The walrus: in conditions, loops and comprehensions, where it binds in the enclosing scope."""

numbers = [3, 1, 4, 1, 5]
if (n := len(numbers)) > 4:
    print("n", n)
it = iter(numbers)
while (x := next(it, None)) is not None:
    if x == 4:
        break
print("x", x, list(it))
print([y := 1, y**2, y + 1], y)
print([half for z in numbers if (half := z // 2)], half)


def total():
    return [running := running + z for z in numbers] if (running := 100) else [], running


print(total())
print(any((witness := z) > 3 for z in numbers), witness)
