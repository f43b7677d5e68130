import linecache, inspect, dis, io, contextlib


def f(x):
    return x + 1


print(linecache.getline(__file__, 2).strip(), inspect.getsourcelines(f)[1], f.__code__.co_firstlineno)
with contextlib.redirect_stdout(io.StringIO()) as o:
    dis.dis(f)
print("RETURN_VALUE" in o.getvalue(), f.__code__.co_varnames)
