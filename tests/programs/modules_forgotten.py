"""sys.modules emptied of library modules, and sys.path emptied: what is imported stays imported."""

import collections
import json
import sys

saved = dict(sys.modules)
path = sys.path[:]
for name in list(sys.modules):
    if name not in ("sys", "builtins", "__main__") and not name.startswith(("_frozen", "encodings")):
        del sys.modules[name]
sys.path.clear()
a = [14]
b = {"a": a}


def work(n):
    c = [x for x in range(n)]
    return json.dumps(c), collections.Counter(c).total()


d = work(3)
sys.modules.update(saved)
sys.path[:] = path
print(a, b, d)
