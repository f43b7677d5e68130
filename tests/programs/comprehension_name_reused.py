"""A comprehension's variable has the name of a variable of the function, which is bound only later."""


def reused(items):
    kept = [item for item in items if item]
    total = sum(item for item in kept)
    for item in kept:
        total += item
    del item
    again = {item: [item for item in kept] for item in kept}
    if again:
        item = total
    return item, again


print(reused([0, 1, 2]))
