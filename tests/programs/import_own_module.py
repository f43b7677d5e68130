"""A module written to a temporary directory, imported, changed, reloaded, forgotten."""

import importlib
import pathlib
import sys
import tempfile

with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder, "made_module.py")
    path.write_text("a = 1\nprint('running', __name__)\ndef f(x):\n    y = x + a\n    return y\n"
                    "def __getattr__(name):\n    return name * 2\n")
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    import made_module
    import made_module as again
    from made_module import f
    print(f(10), made_module is again, made_module.twice, "made_module" in sys.modules, made_module.__file__ == str(path))
    path.write_text("print('running anew')\ndef f(x):\n    return x - a\n")
    importlib.invalidate_caches()
    importlib.reload(made_module)
    print(made_module.f(10), f(10), made_module.a)
    path.write_text("b = 1\n1 / 0\n")
    del sys.modules["made_module"]
    try:
        import made_module
    except ZeroDivisionError as error:
        print(error, "made_module" in sys.modules, error.__traceback__.tb_frame.f_code.co_name)
    sys.path.remove(folder)
try:
    import no_such_module_anywhere
except ModuleNotFoundError as error:
    print(error.name)
import os.path as p, json.decoder
print(p.basename("x/y"), json.decoder.__name__)
