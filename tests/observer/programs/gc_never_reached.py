class D:
    def __init__(self, n):
        self.n = n

    def __del__(self):
        log.append(self.n)


log = []


def main():
    c = D(9)
    c.me = c
    del c
    n = 0
    for i in range(60):
        n += len([[] for _ in range(3)])
        if log:
            return i
    return -1


import gc

gc.collect()
print(main())
