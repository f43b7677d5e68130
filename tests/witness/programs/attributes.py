class Field:
    def __get__(self, o, kind=None):
        return o.__dict__.get('f', 0) if o is not None else self
    def __set__(self, o, v):
        o.__dict__['f'] = v
class A:
    count = 0
    log = []
    f = Field()
    def __setattr__(self, name, v):
        object.__setattr__(self, name, v)
        type(self).count += 1
    def __getattr__(self, name):
        self.__dict__[name] = 7
        return 7
    @property
    def p(self):
        return self._p
    @p.setter
    def p(self, v):
        self._p = v
class B(A):
    def __init__(self):
        super().__init__()
        self.xs = []
    def which(self):
        return __class__
def main():
    b = B()
    b.f = 3
    x = 1
    b.f += 1
    x = 2
    b.p = [1]
    x = 3
    b.p += [2]
    x = 4
    y = b.missing
    x = 5
    b.log.append(1)
    x = 6
    b.count += 5
    x = 7
    type(b).log = {}
    x = 8
    setattr(b, 'z', 1)
    x = 9
    delattr(b, 'z')
    x = 10
    b.__class__ = A
    x = 11
    A.count = 100
    x = 12
    add = b.log.update
    add(a=1)
    x = 13
    b.xs[0:0] = (i for i in range(3))
    x = 14
    first, *rest = b.xs
    x = 15
    del b.xs[:]
    x = 16
    return x
main()
end = 1
