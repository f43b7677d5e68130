import gc


class D:
    def __init__(self, n, other=None):
        self.n, self.other = n, other

    def __del__(self):
        print("del", self.n)


a = D(1)
a.other = D(2, a)
b = D(3, [D(4)])
del b
print("before")
del a
gc.collect()
print("after")
x = D(5)
