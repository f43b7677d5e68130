def make():
    n = 0; seen = []
    def inc():
        nonlocal n
        n += 1
        seen.append(n)
        return n
    def get(): return n, seen
    return inc, get
def main():
    inc, get = make()
    for _ in range(3): inc()
    a = get()
    b = [inc() for _ in range(2)]
    return a, b
main()
