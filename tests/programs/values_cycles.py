"""Lists, dicts and objects that contain themselves."""

a = [3]
a.append(a)
print(a, a[1] is a)
d = {"six": 6}
d["self"] = d
d["list"] = [d]
print(d)


class Node:
    def __init__(self, name):
        self.name = name
        self.me = self


n = Node("n")
n.next = Node("m")
n.next.next = n
print(n.next.next.me.name, n.me.me.me is n)
t = ([],)
t[0].append(t)
print(t)
x, y = [], []
x.append(y)
y.append(x)
print(x, y)
try:
    print(x == y)
except RecursionError:
    print("comparing them never ends")
