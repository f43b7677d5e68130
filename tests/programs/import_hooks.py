"""sys.meta_path, __import__ and sys.modules in the program's hands: it sees each import that it causes, no more."""

import builtins
import sys
import types

log = []


class Finder:
    def find_spec(self, name, path=None, target=None):
        log.append(f"find {name}")
        return None


real = builtins.__import__


def watching(name, *rest, **more):
    log.append(f"import {name}")
    return real(name, *rest, **more)


sys.meta_path.insert(0, Finder())
builtins.__import__ = watching
fake = types.ModuleType("fake_module")
fake.x = 26
sys.modules["fake_module"] = fake
from fake_module import x
try:
    import absent_module
except ImportError:
    pass
a = [n for n in range(3)]
builtins.__import__ = real
del sys.meta_path[0], sys.modules["fake_module"]
print(x, a, log)
