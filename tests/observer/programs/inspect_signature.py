import inspect


def f(a, /, b: int = 2, *args, c, **kw) -> str:
    "doc"


print(inspect.signature(f), inspect.getdoc(f), inspect.getfullargspec(f).kwonlyargs)
print(inspect.signature(f).bind(1, c=3).arguments)


class A:
    def m(self):
        pass


print([n for n, _ in inspect.getmembers(A, inspect.isfunction)], inspect.getsource(A))
