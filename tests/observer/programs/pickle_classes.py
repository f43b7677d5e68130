import pickle, io


class P:
    def __init__(self):
        self.x = [1]
        self.y = self.x

    def __reduce_ex__(self, p):
        print("reduce", p > 1)
        return super().__reduce_ex__(p)

    def __setstate__(self, s):
        print("setstate", sorted(s))
        self.__dict__.update(s)


q = pickle.loads(pickle.dumps(P()))
print(q.x is q.y, type(q) is P, P.__module__)
try:
    pickle.dumps(lambda: 1)
except Exception as e:
    print(type(e).__name__)
