"""A SyntaxError at run time: from compile, from exec, from an import; caught, then one left uncaught."""

import pathlib
import sys
import tempfile

for source in ("a = = 1", "def f(:", "return", "for", "f(**{}, *[])"):
    try:
        compile(source, "<made up>", "exec")
    except SyntaxError as error:
        print(type(error).__name__, error.filename, error.lineno)
with tempfile.TemporaryDirectory() as folder:
    pathlib.Path(folder, "broken_module.py").write_text("x = 1\nif x\n")
    sys.path.insert(0, folder)
    try:
        import broken_module
    except SyntaxError as error:
        print(error.lineno, "broken_module" in sys.modules)
    sys.path.remove(folder)
exec("1 +")
