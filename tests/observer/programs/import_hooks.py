import sys, importlib.abc, importlib.machinery

asked = []


class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        asked.append(name)
        return None


sys.meta_path.insert(0, Finder())
import colorsys, json

try:
    import no_such_module
except ModuleNotFoundError as e:
    print(e, e.name)
sys.meta_path.pop(0)
print(asked[0], "json" in asked, asked[-1])
