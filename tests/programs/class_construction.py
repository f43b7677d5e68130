"""__new__, __init__, __init_subclass__, __set_name__, __class_getitem__ and __call__: the order they run in."""


class Field:
    def __set_name__(self, owner, name):
        print("set_name", owner.__name__, name)
        self.name = name

    def __get__(self, obj, owner=None):
        if obj is None:
            return self
        print("get", self.name)
        return obj.__dict__.get(self.name, "default")

    def __set__(self, obj, value):
        print("set", self.name, value)
        obj.__dict__[self.name] = value


class Base:
    def __init_subclass__(cls, tag=None, **more):
        super().__init_subclass__(**more)
        print("init_subclass", cls.__name__, tag)

    def __new__(cls, *args):
        print("new", args)
        return super().__new__(cls) if args else None

    def __init__(self, *args):
        print("init")

    def __class_getitem__(cls, item):
        return f"{cls.__name__}[{item}]"


class Sub(Base, tag="t"):
    a = Field()

    def __call__(self, *args, **kwargs):
        return args, kwargs


s = Sub(1)
s.a = 41
print(s.a, s(2, k=3), Sub(), Sub["int"], vars(s), Sub.a.name)
