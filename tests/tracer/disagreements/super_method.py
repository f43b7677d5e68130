import asyncio, collections, contextlib, functools, itertools, operator

Point = collections.namedtuple("Point", "x y")
global_list = []


class Failed(Exception):
    def __init__(self, code):
        super().__init__(f"code {code}")
        self.code = code


def memo(n, known={}):
    if n not in known:
        known[n] = n if n < 2 else memo(n - 1) + memo(n - 2)
    return known[n]


n1 = next(itertools.islice(iter([1, 2, 3]), 2, None), (2**64))
s1 = 'é\u2603'
xs1 = list(range(6))
rows1 = [list(t1) for t1 in zip(xs1, (1, 2))]
d1 = {t2: t3 for t3, t2 in enumerate(s1[:4])}
seen1 = {1}
def t4(n2):
    global n1
    xs2 = [1]
    any1 = [collections.deque(), ...]
    return n2
class t6:
    def __init__(self, value, after=None):
        self.value, self.after = value, after
class t7:
    def __init__(self, xs3):
        self.head = None
        for n3 in xs3[:3]:
            self.head = t6(n3, self.head)
            n4 = max(int(str(10 % 10**9) + '7'), functools.partial(max, 255)((-1)), key=lambda t8: -t8)
            n4 += ((-1) * 2 % 1009)
            n4 *= 2
            n4 -= 1
            n4 %= 1009
            pass
        if self.head:
            self.head.ring = self
            self.reverse()
    def reverse(self):
        before, node = None, self.head
        while node:
            node.after, before, node = before, node, node.after
        self.head = before
class t9:
    def __init__(self, n5):
        self.value = len([int.bit_length(t10) for t10 in xs1[:3]])
        self.seen = []
    def step(self, n6):
        self.seen = self.seen[-3:] + [n6]
        return self.more(len({**dict(zip('abc'[:3], xs1)), '': 0}))
    def more(self, n7):
        return n7
class t11(t9):
    def __init__(self, n8):
        super().__init__(memo(n1 % 20))
        self.child = True
    def more(self, n6):
        for t12 in list(xs1):
            xs1.remove(t12)
            if t12 > 3:
                continue
            xs1.append(t12 % 4)
        *xs4, n10 = *(1, 2), n1
        return super().more(memo(3 % 20)) + self.value % 7
    @classmethod
    def make(cls, n11):
        return cls(min(1, divmod(n11, n11 or 3)[1]))
    @staticmethod
    def helper(n12):
        return n1
import enum
class t13(enum.IntEnum):
    t14 = 1
    t15 = 2
    def step(self, n13):
        return self + 255
for n14 in range(2):
    for n15 in range(3):
        data1 = b'ab'[1:]
        data1 += b'+'
        buf1 = bytearray(data1)
        buf1 += b'!'
        buf1 *= 2
        del buf1[4:]
        obj1 = t11(n15)
print(n1)
print(s1)
print(xs1)
print(rows1)
print(d1)
