def move(n, source, target, spare):
    if n == 0:
        return 0
    count = move(n - 1, source, spare, target)
    target.append(source.pop())
    return count + 1 + move(n - 1, spare, target, source)


def hanoi(n):
    a = list(range(n, 0, -1))
    b = []
    c = []
    move(n, a, c, b)
    return c


# ----
def shift(pegs, disks, start, end):
    if disks > 0:
        other = 3 - start - end
        shift(pegs, disks - 1, start, other)
        pegs[end].append(pegs[start].pop())
        shift(pegs, disks - 1, other, end)


def towers(height):
    pegs = [[], [], []]
    for size in range(height, 0, -1):
        pegs[0].append(size)
    shift(pegs, height, 0, 2)
    return pegs[2]


# ----
def solve(disks):
    left = []
    middle = []
    right = []
    k = disks
    while k >= 1:
        left.append(k)
        k -= 1
    todo = [(disks, left, right, middle)]
    while todo:
        n, source, target, spare = todo.pop()
        if n == 1:
            target.append(source.pop())
        elif n > 1:
            todo.append((n - 1, spare, target, source))
            todo.append((1, source, target, spare))
            todo.append((n - 1, source, spare, target))
    return right


# ----
def legal(pegs, i, j):
    if not pegs[j] or (pegs[i] and pegs[i][-1] < pegs[j][-1]):
        pegs[j].append(pegs[i].pop())
    else:
        pegs[i].append(pegs[j].pop())


def play(n):
    pegs = [list(range(n, 0, -1)), [], []]
    turn = 0
    while len(pegs[2]) < n:
        if turn % 3 == 2:
            legal(pegs, 1, 2)
        elif (turn % 3 == 0) == (n % 2 == 1):
            legal(pegs, 0, 2)
        else:
            legal(pegs, 0, 1)
        turn += 1
    return pegs[2]
