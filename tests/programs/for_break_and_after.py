"""A short line after a loop with `break`, which the compiler writes twice: each is a line that runs."""


def first_true(items):
    for item in items:
        if item:
            break
    return 0


def last_or_error(items):
    for item in items:
        if item:
            seen = [item]
            break
    return item


def with_try(items):
    for item in items:
        try:
            value = 10 // item
            break
        except ZeroDivisionError:
            value = None
    return [value for value in items]


def nested(rows):
    for row in rows:
        for item in row:
            if item > 2:
                break
        row.append(-1)
    return sum(row)


def with_else(items):
    for item in items:
        if item:
            break
    else:
        return "none"
    return item


async def waits(items):
    for item in items:
        if item:
            break
    return await other(items)


async def other(items):
    items.append(4)
    return items


print(first_true([]), first_true([0]), first_true([0, 2, 3]))
try:
    last_or_error([])
except UnboundLocalError as error:
    print(type(error).__name__)
print(last_or_error([0]), with_try([]) if 0 else with_try([0, 5]), with_try([0]))
print(nested([[1, 2], [3], []]), with_else([]), with_else([7]))
try:
    waits([0]).send(None)
except StopIteration as stop:
    print(stop.value)
for number in range(3):
    if number > 5:
        break
print(number)
