"""Values that grow beyond what is recorded of one, and shrink again: the part that is shown stays the same."""

xs = list(range(1001))
x = 1
xs.pop()
x = 2
xs.pop()
x = 3
xs.append(5)
xs.append(6)
x = 4
xs[1000] = 7
x = 5
xs[:] = [None] * 1001
x = 6
del xs[1000]
x = 7
d = {i: i for i in range(1001)}
x = 8
d.popitem()
x = 9
d[5000] = d[5001] = 1
x = 10
del d[5001], d[5000]
x = 11
s = set(range(1001))
s.discard(1000)
x = 12
s.add(1000)
x = 13
b = bytearray(10_001)
b.pop()
x = 14
b.append(1)
x = 15
t = "a" * 10_001
t = t[:-1]
x = 16
t += "b"
u = tuple(range(1001))
u = u[:-1]
x = 17


class Wide:
    pass


w = Wide()
for i in range(1001):
    setattr(w, f"a{i}", 0)
x = 18
del w.a1000
x = 19
w.a1000 = 1
x = 20


class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next


head = None
for i in range(62):
    head = Node(i, head)
x = 21
node = head
while node.next:
    node = node.next
node.value = 1000
x = 22
head = head.next.next
x = 23
nested = inner = []
for i in range(62):
    inner.append([])
    inner = inner[0]
inner.append(1)
x = 24
nested = nested[0][0]
x = 25
