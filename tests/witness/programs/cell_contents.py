def outer():
    n = 0
    def step():
        nonlocal n
        n += 1
        return n
    def look():
        return n
    c = step.__closure__[0]
    step()
    x = 1
    c.cell_contents = 9
    x = 2
    look()
    x = 3
    return step, look, c
step, look, c = outer()
c.cell_contents = 5
x = 1
def main():
    y = 0
    step()
    y = 1
    c.cell_contents = [1]
    y = 2
    c.cell_contents.append(3)
    y = 3
main()
end = 1
