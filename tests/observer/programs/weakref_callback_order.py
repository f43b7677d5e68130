import weakref


class Node:
    def __init__(self, name):
        self.name = name


log = []
nodes = [Node(n) for n in "abc"]
refs = [weakref.ref(n, lambda r, k=n.name: log.append(k)) for n in nodes]
while nodes:
    nodes.pop()
    print(log, [r() is None for r in refs])
