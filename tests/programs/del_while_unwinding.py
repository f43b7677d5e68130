"""Destructors, callbacks and closing generators that run while an exception or a call empties the value stack."""
import weakref
def g():
    try:
        yield 1
        yield 2
    finally:
        print('closed')
class D:
    def __del__(self):
        print("del")
    def __repr__(self): return 'D'
def f():
    for x in g():
        for y in [D(), 2]:
            for z in map(lambda q: q, iter([1, [2]*3])):
                1/0
def h():
    for x in g():
        try:
            for y in [D() , 2]:
                for w in g():
                    for z in zip([D()],[3]):
                        1/0
        except ZeroDivisionError:
            print('caught')
for i in range(3):
    try:
        f()
    except ZeroDivisionError: print('out')
    h()
class C:
    def m(self, *a): return D()
def cb(ref): print('cb')
import sys
def k():
    def r(c):
        t=C(); weakref.finalize(t, print, 'fin'); c.append(weakref.ref(t, cb)); return t
    keep=[]
    print(len(str(r(keep))) > 0, isinstance(r(keep), C), sum(map(len, [[D()],[C()]])))
    max(r(keep), D(), key=lambda q: 1)
    sorted([D(), r(keep)], key=lambda q: 1)
    [*g(), *map(lambda q: D(), [1,2])]
    next(g()); (yield_ := g()).send(None); (lambda: (yield))().send(None)
    dict(zip(g(), [D()]))
    print(repr(D()), r(keep) is None, D() is None)
k()
