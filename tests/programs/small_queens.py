"""Four queens by backtracking: generators that recurse, state undone on the way back."""


def place(n, row=0, columns=(), log=[]):
    log.append(row)
    if row == n:
        yield columns
        return
    for c in range(n):
        if all(c != k and abs(c - k) != row - r for r, k in enumerate(columns)):
            yield from place(n, row + 1, columns + (c,))


def subsets(items, chosen, out):
    if not items:
        out.append(chosen[:])
        return out
    chosen.append(items[0])
    subsets(items[1:], chosen, out)
    chosen.pop()
    return subsets(items[1:], chosen, out)


print(list(place(4)), len(place.__defaults__[2]))
print(subsets([1, 2, 3], [], []))
