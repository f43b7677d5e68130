"""Closures and nonlocal: cells shared by functions, changed from inside and from outside."""


def counter(start):
    count = start
    history = []

    def step(by=1):
        nonlocal count
        count += by
        history.append(count)
        return count

    def reset():
        nonlocal count
        count = start
        return history

    step.reset = reset
    return step


a = counter(20)
b = counter(100)
print(a(), a(5), b(), a.reset(), a(), b.reset())
print(a.__closure__[0].cell_contents, [cell.cell_contents for cell in b.__closure__])


def outer():
    def inner():
        return later

    try:
        inner()
    except NameError as error:
        print(error)
    later = 37
    print(inner())
    del later
    try:
        return inner()
    except NameError:
        return "deleted"


print(outer())
