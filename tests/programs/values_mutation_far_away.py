"""A value changes although no line of this frame assigns it: by a callee, an alias, an attribute, a container."""


class Box:
    pass


def fill(target):
    target.append(len(target))


def rebind(target):
    target = ["only here"]
    return target


def main():
    a = [15]
    fill(a)
    rebind(a)
    print(a)
    box = Box()
    box.items = a
    box.items += [20]
    other = box
    other.items.append(22)
    other.extra = 23
    print(a, sorted(vars(box)))
    nest = {"k": [{"deep": a}]}
    nest["k"][0]["deep"].pop()
    print(a)
    key = {1: "one"}
    frozen = (key, key)
    frozen[0][2] = "two"
    print(frozen)


main()
