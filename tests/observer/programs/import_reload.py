import importlib.util, sys, pathlib

sys.dont_write_bytecode = True
p = pathlib.Path("m.py")
p.write_text("x = 1\n")
import m

p.write_text("x = 1234\n")
importlib.invalidate_caches()
print(
    m.x, importlib.reload(m).x, importlib.util.find_spec("m").name, importlib.import_module("json").dumps([1])
)
del sys.modules["json"]
import json as j2

print(j2 is not importlib.import_module("os"))
