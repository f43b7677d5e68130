class D:
    def __set_name__(self, o, n):
        self.n = n

    def __get__(self, i, o=None):
        print("get", self.n, i is None)
        return 5

    def __set__(self, i, v):
        print("set", v)


class A:
    d = D()
    __slots__ = ("s",)

    def __getattr__(self, n):
        print("missing", n)
        raise AttributeError(n)


a = A()
a.d = 3
a.s = 1
print(a.d + a.s, hasattr(a, "zz"), A.d)
