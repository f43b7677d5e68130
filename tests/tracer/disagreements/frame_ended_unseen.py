import asyncio, collections, contextlib, functools, itertools, operator

Point = collections.namedtuple("Point", "x y")
global_list = []


class Failed(Exception):
    def __init__(self, code):
        super().__init__(f"code {code}")
        self.code = code


def chain_sum(node):
    total = 0
    while node:
        total += node[0]
        node = node[1]
    return total


n1 = True
s1 = ''
xs1 = [0, 0, 5, -1]
rows1 = ([[0] * 2] * 2)
d1 = {'a': 1}
seen1 = {t1 for t1 in [3, 1, 2] if t1 in set()}
class t2:
    __slots__ = 'key', 'left', 'right'
    def __init__(self, key):
        self.key = key
        self.left = self.right = None
class t3:
    def __init__(self, xs2):
        self.root = None
        for t4 in xs2[:4]:
            self.root = self.insert(self.root, t4)
    def insert(self, node, key):
        if node is None:
            return t2(key)
        if key < node.key:
            node.left = self.insert(node.left, key)
        else:
            node.right = self.insert(node.right, key)
        return node
    def depth(self, node=0):
        if node == 0:
            node = self.root
        return 0 if node is None else 1 + max(self.depth(node.left), self.depth(node.right))
class t5:
    __slots__ = ('value', 'next')
    def __init__(self, n2, any1=None):
        self.value, self.next = n2, any1
    def step(self, n3):
        seen1.add(n1)
        self.next = [self.value, sum(len(t6) for t6 in [[1], [2, 3]][::-1])]
        return len(self.next)
@contextlib.contextmanager
def t7(n4):
    t8 = zip(xs1, s1, divmod((not n1), max('one two three'.split(), key=len, default='').count('a') or 2))
    for t9, t10, t11 in t8:
        print(t9, t10, t11)
        break
    any2 = t8
    if xs1:
        n4 = xs1.pop()
    def t12():
        for n5 in range(3):
            for n6 in range(n1 % 4 + 1):
                if rows1:
                    rows1[abs(abs(n5)) % len(rows1)] += [chain_sum(None)]
            yield n5 + max(n4, n1, key=lambda t13: -t13)
        return n4
    it1 = t12()
    n4 = next(t12())
    for t14, t15 in itertools.groupby([t16 for t16 in [(-(10**20))] if t16 % 2], key=lambda t17: t17 % 3):
        print(t14, list(t15))
    try:
        yield n4
    except LookupError as t18:
        print('swallowed', t18.args)
    finally:
        t19, t20 = itertools.tee(list(itertools.accumulate(xs1[:6]))[1:][:4])
        n4 = next(t19, 0)
        xs3 = list(t20)
def t21(any3):
    with t7(n1) as t22:
        yield max(xs1, default=n1)
    yield abs(next(itertools.islice(iter([1, 2, 3]), 2, None), n1))
for s2 in '\ud800'[:3]:
    xs1 = list((1, 2))
if len(xs1) > 9:
    xs1.clear()
t25 = 0
while (len({}.get(n1, xs1)) > 2) and t25 < 3:
    t25 += 1
    n1 = n1; s1 = s1
    break
else:
    t27, t28 = itertools.tee(xs1[:4])
    n14 = next(t27, 0)
    xs1 = list(t28)
try:
    with t7(n1):
        d1.update(a=0, c=((n1 // (n1 or 1))))
        raise LookupError(n1)
except Exception as t29:
    print(type(t29).__name__)
print(n1)
print(s1)
print(xs1)
print(rows1)
print(d1)
