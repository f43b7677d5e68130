"""inspect and linecache about the program's own code: sources, signatures, closures, the call stack."""

import inspect
import linecache


def outer(a, *, b=8):
    c = [a, b]

    def inner(x: int = 9) -> "text":
        stack = [s for s in inspect.stack() if s.filename == __file__]
        return c, x, [(s.function, s.lineno) for s in stack], stack[0].code_context

    return inner


f = outer(17)
print(f())
print(inspect.signature(f), inspect.signature(outer), inspect.getclosurevars(f).nonlocals)
print(inspect.getsource(outer).splitlines()[1], inspect.getsourcelines(f)[1], linecache.getline(__file__, 8))
print(inspect.isfunction(f), inspect.getmodule(f).__name__, inspect.getdoc(inspect.getmodule(f))[:7])
print(inspect.trace(), inspect.currentframe().f_lineno, inspect.getcallargs(outer, 1, b=2))
