"""`list +=` changes the list that others hold too; `list = list + ...` does not."""

a = [3]
b = a
a += [5]
a += "67"
a += (n for n in (7, 8))
a = a + [8]
a += []
print(a, b, a is b)


def extend(target, extra):
    target += extra
    target = target + ["only here"]
    return target


c = extend(b, [14])
print(b, c, b is c)
