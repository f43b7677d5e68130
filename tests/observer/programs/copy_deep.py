import copy


class N:
    def __init__(self, v):
        self.v, self.me = v, self

    def __copy__(self):
        print("copy")
        return N(self.v)


n = N([1, 2])
m = copy.copy(n)
d = copy.deepcopy(n)
print(m.v is n.v, d.v == n.v, d.v is n.v, d.me is d)
x = [1]
x.append(x)
y = copy.deepcopy(x)
print(y[1] is y)
