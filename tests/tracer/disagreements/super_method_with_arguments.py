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


n1 = hash(True % 9)
s1 = "it's"
xs1 = ([1] * 2)[:8]
rows1 = [t1[:] for t1 in [[], [1]]]
d1 = {'a': n1, 'abc': n1}
seen1 = {3, 1, 2}
class t2:
    def __init__(self, n2):
        self.__dict__['value'] = n2
    def __getattr__(self, name):
        if name.startswith('_'):
            raise AttributeError(name)
        return lambda *args: len(name) + len(args)
    def __setattr__(self, name, any1):
        try:
            n3 = (-1); s2 = s1
            xs1.append((n1 % 100 << True % 70))
            d1.pop(s1, None)
            for t3 in list(d1):
                d1[t3] += 1
                if d1[t3] % 2:
                    del d1[t3]
        except Exception as t4:
            print(type(t4).__name__, t4.args)
        t5 = iter(xs1)
        for t6, t7 in zip(t5, t5):
            n4 = t6 - t7
        self.__dict__[name] = any1
class t8:
    depth = 0
    def __enter__(self):
        type(self).depth += 1
        return self.depth
    def __exit__(self, *problem):
        type(self).depth -= 1
        print('left', problem[0] is None)
    def chain(self, items):
        head = None
        for item in items:
            head = [item, head]
            return int((-2.25) if abs((-2.25)) < 1e9 else 0)
        return head
class t9:
    def __init__(self, n5):
        self.value = (~functools.reduce(lambda t10, t11: (t10 + t11) % 997, xs1, 7))
        self.seen = []
    def step(self, n6):
        self.seen = self.seen[-3:] + [n6]
        return self.more(n1)
    def more(self, n7):
        return (-(~n7))
class t12(t9):
    def __init__(self, n8):
        super().__init__(operator.itemgetter(0)([chain_sum([1, None])]))
        self.child = True
    def more(self, n6):
        pair1 = ((0, -5, 9) + (int(n1),))[-4:]
        pair2 = pair1
        pair1 += (255,)
        groups1 = {len(t13): t13 for t13 in [t14[:] for t14 in rows1]}
        for s3, n9 in list(({} | {'m': (lambda v: v + 1)(n1)}).items())[:3]:
            with t8():
                if True:
                    break
        return super().more(abs(2)) + self.value % 7
    @classmethod
    def make(cls, n10):
        return cls((not n10))
    @staticmethod
    def helper(n11):
        return n1
for t15 in range(3):
    try:
        if t15 == (n1 * collections.defaultdict(int, {1: 2})[n1] % 1009) % 3:
            continue
        if False:
            break
        (n1, n1), s4 = (pow((2**64) % 50, 3, 101), len({1})), ''
        print(0, ''.join(map(str, [3, 1, 2]))[:30])
        dq1 = collections.deque([1, 2, 3], maxlen=4)
    except Exception:
        pass
    finally:
        obj1 = t12(97)
print(n1)
print(s1)
print(xs1)
print(rows1)
print(d1)
