ns = {}
exec("def f(a):\n    import sys\n    return sys._getframe().f_back.f_code.co_name, a\nr = f(2)", ns)
print(ns["r"], ns["f"](3), eval("1 + x", {"x": 2}), sorted(k for k in ns if k[0] != "_"))
try:
    exec("1 +")
except SyntaxError as e:
    print(e.msg, e.lineno)
