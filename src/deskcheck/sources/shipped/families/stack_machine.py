def run(code, times):
    stack = [times, 0]
    pc = 0
    while pc < len(code):
        op = code[pc]
        pc += 1
        if op == "add":
            top = stack.pop()
            stack[-1] = (stack[-1] + top) % 100
        elif op == "mul":
            top = stack.pop()
            stack[-1] = (stack[-1] * top) % 100
        elif op == "dup":
            stack.append(stack[-1])
        elif op == "loop":
            stack[0] -= 1
            if stack[0] > 0:
                pc = 0
        else:
            stack.append(int(op))
    return stack[-1]


# ----
def machine(program, n):
    count = n
    values = [0]
    at = 0
    while True:
        if at == len(program):
            return values[-1]
        word = program[at]
        at = at + 1
        if word == "loop":
            count = count - 1
            if count > 0:
                at = 0
        elif word == "dup":
            values.append(values[-1])
        elif word == "add":
            right = values.pop()
            left = values.pop()
            values.append((left + right) % 100)
        elif word == "mul":
            right = values.pop()
            left = values.pop()
            values.append(left * right % 100)
        else:
            values.append(int(word))


# ----
def step(word, stack):
    if word == "add" or word == "mul":
        b = stack.pop()
        a = stack.pop()
        result = a + b if word == "add" else a * b
        stack.append(result % 100)
    elif word == "dup":
        stack.append(stack[-1])
    else:
        stack.append(int(word))


def interpret(words, rounds):
    stack = [0]
    while rounds > 0:
        for word in words:
            if word != "loop":
                step(word, stack)
        rounds -= 1
    return stack.pop()


# ----
def evaluate(ops, repeat):
    s = [0]
    for _ in range(repeat):
        for op in ops:
            if op == "loop":
                break
            if op == "dup":
                s = s + s[-1:]
                continue
            if op == "add":
                s = s[:-2] + [(s[-2] + s[-1]) % 100]
            elif op == "mul":
                s = s[:-2] + [(s[-2] * s[-1]) % 100]
            else:
                s = s + [int(op)]
    return s[-1]
