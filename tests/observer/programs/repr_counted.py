calls = []


class R:
    def __init__(self, n):
        self.n = n

    def __repr__(self):
        calls.append("repr")
        return f"R{self.n}"

    def __eq__(self, o):
        calls.append("eq")
        return self.n == o.n

    def __hash__(self):
        calls.append("hash")
        return 1

    def __bool__(self):
        calls.append("bool")
        return True

    def __len__(self):
        calls.append("len")
        return 3


items = [R(1), R(2)]
s = set(items)
y = R(1) in s
print(y, calls)
