"""exec, eval and compile: in own namespaces, in the current one, with code that has no file."""

a = 3
exec("a += 1\nb = a * 2\nfor i in range(2):\n    b += i")
print(a, b, i)
space = {"x": 6}
exec("def f(n):\n    y = n + x\n    return y\nz = f(10)", space)
print(space["z"], space["f"](1), sorted(k for k in space if k != "__builtins__"), "f" in globals())
print(eval("a + x", {"a": 100}, {"x": 1}), eval(compile("a * 2", "<expression>", "eval")))


def local_exec():
    v = 13
    exec("v = 15; w = 16")
    own = {}
    exec("v = 15; w = 16", globals(), own)
    return v, own, eval("v + 1"), [eval("v", {}, {"v": n}) for n in range(2)]


print(local_exec(), "w" in globals())
code = compile("if 1:\n  c = [1,\n       2]\n  d = c", "made_up_name.py", "exec")
exec(code)
print(d, code.co_filename, code.co_firstlineno, "d" in globals())
exec("")
single = compile("5 + 5", "<single>", "single")
eval(single)
try:
    exec("\n\nraise ValueError('from line 3')")
except ValueError as error:
    print(error, error.__traceback__.tb_next.tb_lineno)
exec(compile("print('same name as this file', __name__)", __file__, "exec"))
