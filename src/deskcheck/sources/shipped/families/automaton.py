def rule_110(cells, steps):
    n = len(cells)
    for _ in range(steps):
        new = []
        for i in range(n):
            number = 4 * cells[i - 1] + 2 * cells[i] + cells[(i + 1) % n]
            new.append(110 >> number & 1)
        cells = new
    return cells


# ----
def evolve(row, times):
    while times > 0:
        following = []
        for k in range(len(row)):
            left = row[k - 1]
            right = row[k + 1] if k + 1 < len(row) else row[0]
            if row[k] == 1:
                following.append(1 - left * right)
            else:
                following.append(right)
        row = following
        times -= 1
    return row


# ----
def new_cell(left, here, right):
    if here == 0:
        return right
    if left == 1 and right == 1:
        return 0
    return 1


def automaton(tape, generations):
    width = len(tape)
    g = 0
    while g < generations:
        tape = [new_cell(tape[p - 1], tape[p], tape[(p + 1) % width]) for p in range(width)]
        g += 1
    return tape


# ----
def simulate(line, t):
    while t:
        first = line[0]
        before = line[-1]
        for j in range(len(line)):
            here = line[j]
            after = line[j + 1] if j < len(line) - 1 else first
            if here == 0:
                line[j] = after
            elif before == 1 and after == 1:
                line[j] = 0
            before = here
        t = t - 1
    return line
