"""A metaclass with __prepare__: the class body runs in a mapping of the program's own, which counts."""


class Namespace(dict):
    reads = []

    def __getitem__(self, key):
        self.reads.append(key)
        return super().__getitem__(key)

    def __setitem__(self, key, value):
        if key in self and not key.startswith("__"):
            key += "_again"
        super().__setitem__(key, value)


class Meta(type):
    @classmethod
    def __prepare__(mcs, name, bases, **more):
        print("prepare", name, more)
        return Namespace()

    def __new__(mcs, name, bases, namespace, **more):
        print("new", [k for k in namespace if not k.startswith("__")])
        return super().__new__(mcs, name, bases, dict(namespace))

    def __call__(cls, *args):
        print("call", cls.__name__)
        return super().__call__(*args)

    def __len__(cls):
        return 29


class C(metaclass=Meta, option=1):
    a = 36
    a = 37
    b = a + a_again
    c = [a for a in range(2)]


print(C.a, C.a_again, C.b, len(C), type(C()).__name__, [r for r in Namespace.reads if r != "__name__"])
