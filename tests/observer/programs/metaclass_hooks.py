log = []


class M(type):
    def __new__(m, n, b, d):
        log.append(("new", n))
        return super().__new__(m, n, b, d)

    def __call__(c, *a):
        log.append(("call", c.__name__))
        return super().__call__(*a)

    def __instancecheck__(c, o):
        log.append("check")
        return False

    def __getattribute__(c, n):
        log.append(("attr", n)) if not n.startswith("_") else None
        return super().__getattribute__(n)


class A(metaclass=M):
    k = 1

    def __init__(self):
        self.v = A.k


a = A()
print(isinstance(a, A), isinstance(3, A), log)
