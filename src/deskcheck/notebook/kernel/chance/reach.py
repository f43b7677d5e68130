"""What the use of a value may read: the variables and objects that it leads to; and what code may change.

In the kernel's process. Followed are collections, functions and what they are closed over, the variables
that functions of the notebook name, partial functions, methods, and objects and classes of the notebook.
Nothing is called. Not seen: what objects of libraries hold, and what lies beyond the first items of a large
collection."""

import ast
import dis
import functools
import itertools
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import CodeType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any

from deskcheck.notebook.kernel.chance.own import is_filled, is_own
from deskcheck.notebook.kernel.chance.sources import CHANGING

_ATOMS = (int, float, complex, bool, str, bytes, range, type(None), type(...), ModuleType)
_GENERATORS = frozenset({"Random", "SystemRandom", "Generator", "RandomState"})
_OF_GENERATORS = frozenset({"random", "numpy", "torch", "faker"})
_NEW = (
    *(ast.List, ast.Dict, ast.Set, ast.Constant, ast.JoinedStr, ast.Compare),
    *(ast.ListComp, ast.SetComp, ast.DictComp),
)
_MAKING = frozenset(
    {"list", "dict", "set", "sorted", "defaultdict", "Counter", "deque", "int", "float", "str", "len", "sum"}
)
_ALSO_CHANGING = frozenset(
    {"popitem", "popleft", "extendleft", "rotate", "shuffle", "difference_update", "intersection_update"}
    | {"symmetric_difference_update", "subtract", "move_to_end", "__setattr__", "__setitem__", "__delitem__"}
)
_CHANGING_ANYTHING = frozenset({"setattr", "delattr", "exec", "eval", "vars", "globals", "locals"})
_ITEMS = 200
"""So many items of a collection are looked at."""
_MOST = 2000
"""So many values, for one."""
_READING = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})


def leads_to(value: Any, names: Collection[str], namespace: Mapping[str, Any]) -> str | None:
    """One of some variables that the use of a value may read, or whose object it holds."""
    if not names or type(value) in _ATOMS:
        return None
    objects = {id(namespace[name]): name for name in names if type(namespace.get(name)) not in _ATOMS}
    seen: set[int] = set()
    todo = [value]
    while todo and len(seen) < _MOST:
        each = todo.pop()
        if type(each) in _ATOMS or id(each) in seen or is_generator(each):
            continue
        if id(each) in objects:
            return objects[id(each)]
        seen.add(id(each))
        for code in _codes(each):
            read = _globals(code)
            if not read.isdisjoint(names):
                return min(read.intersection(names))
            todo += [namespace[name] for name in read if name in namespace]
        todo += _held(each)
    return None


class Changes:
    """What some code may change in its place. nodes: all that it runs. parameters: names of those of the
    notebook's functions. safe: whether a call changes nothing that it is given, or runs some of the nodes."""

    def __init__(
        self, nodes: Iterable[ast.AST], parameters: Collection[str], safe: Callable[[ast.Call], bool]
    ) -> None:
        self.attributes: set[str] = set()
        """Those that are given a value."""
        self.items = False
        """Whether items of a collection that is not made there may be given or taken."""
        self.grows = False
        """Whether a variable is added to, which may be a collection."""
        self.unknown = False
        """Whether something is called that is not known."""
        found = [*nodes]
        new = _made_there(found) - {*parameters}
        for node in found:
            if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
                self.attributes.add(node.attr)
            elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
                self.items |= not _is_one_of(node.value, new)
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                self.grows |= node.target.id not in new
            elif isinstance(node, ast.Call):
                self._called(node, new, safe)

    def _called(self, node: ast.Call, new: set[str], safe: Callable[[ast.Call], bool]) -> None:
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in CHANGING | _ALSO_CHANGING:
            self.items |= not _is_one_of(function.value, new)
        elif getattr(function, "id", "") in _CHANGING_ANYTHING:
            self.items = self.unknown = True
        elif not safe(node):
            self.unknown = True

    def keep(self, value: Any) -> bool:
        """Whether an object of the notebook's, or a collection, stays as it is."""
        if is_own(type(value)):
            return not self.items and self.attributes.isdisjoint(_attributes(value))
        if type(value) in (list, dict, set):
            return not (self.items or self.grows or self.unknown)
        return issubclass(type(value), tuple)


def _made_there(nodes: Iterable[ast.AST]) -> set[str]:
    """Variables that are given nothing but new collections, and numbers and texts."""
    found: dict[str, bool] = {}
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    new = isinstance(node.value, _NEW) or _makes(node.value)
                    found[target.id] = found.get(target.id, True) and new
                else:
                    others = (each for each in ast.walk(target) if isinstance(each, ast.Name))
                    found |= dict.fromkeys((each.id for each in others), False)
        elif isinstance(node, ast.For | ast.comprehension | ast.NamedExpr):
            found |= {each.id: False for each in ast.walk(node.target) if isinstance(each, ast.Name)}
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            others = (each for each in ast.walk(node.optional_vars) if isinstance(each, ast.Name))
            found |= dict.fromkeys((each.id for each in others), False)
    return {name for name, new in found.items() if new}


def _makes(node: ast.expr) -> bool:
    """Whether it is a call that makes a collection."""
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") in _MAKING


def _is_one_of(node: ast.expr, names: Collection[str]) -> bool:
    while isinstance(node, ast.Subscript):
        node = node.value
    return isinstance(node, ast.Name) and node.id in names


def is_generator(value: Any) -> bool:
    """Whether it is a random generator: what it gives depends on its seed, not on what it gave before."""
    package = package_of(type(value))
    kind = type(value).__name__
    if package == "scipy" and kind.endswith(("_gen", "_frozen")):  # a distribution
        return True
    return package in _OF_GENERATORS and (kind in _GENERATORS or package == "faker")


def package_of(kind: type) -> str:
    """Of a class, whatever it makes of being asked; empty where it has none."""
    module = type.__getattribute__(kind, "__module__")
    return module.partition(".")[0] if isinstance(module, str) else ""


def same_object(value: Any, other: Any) -> bool:
    """Whether two variables have one object, so that what changes one changes the other."""
    return value is other and type(value) not in _ATOMS


def _codes(value: Any) -> Iterator[CodeType]:
    """The notebook's code that runs when a value is used."""
    if type(value) is FunctionType and value.__module__ == "__main__":
        yield value.__code__
    elif type(value) is GeneratorType and value.gi_frame is not None:
        yield value.gi_code


@functools.lru_cache(maxsize=1024)
def _globals(code: CodeType) -> frozenset[str]:
    """Variables outside of it that code names."""
    found: set[str] = set()
    todo = [code]
    while todo:
        each = todo.pop()
        found |= {step.argval for step in dis.get_instructions(each) if step.opname in _READING}
        todo += [inner for inner in each.co_consts if isinstance(inner, CodeType)]
    return frozenset(found)


def _held(value: Any) -> list[Any]:
    """What a value holds."""
    kind = type(value)
    if kind in (list, tuple, set, frozenset):
        return [*itertools.islice(value, _ITEMS)]
    if kind is dict:
        return [*itertools.islice(value.values(), _ITEMS)]
    if kind is FunctionType:
        cells = [each.cell_contents for each in value.__closure__ or () if is_filled(each)]
        named = (value.__kwdefaults__ or {}).values()
        return [*cells, *(value.__defaults__ or ()), *named, *vars(value).values()]
    if kind is GeneratorType:
        return [] if value.gi_frame is None else [*value.gi_frame.f_locals.values()]
    if kind is MethodType:
        return [value.__func__, value.__self__]
    if kind is functools.partial:
        return [value.func, value.args, value.keywords]
    if kind in (staticmethod, classmethod, functools._lru_cache_wrapper):
        return [value.__wrapped__]
    if kind is property:
        return [value.fget, value.fset]
    if issubclass(kind, type):
        own = package_of(value) == "__main__"
        return [*type.__getattribute__(value, "__dict__").values(), *type.mro(value)] if own else []
    if package_of(kind) == "__main__":
        return [kind, *_attributes(value).values()]
    array = getattr(sys.modules.get("numpy"), "ndarray", None)
    return [value.base] if array is not None and kind is array else []


def own_attribute(value: Any, name: str) -> Any:
    """An attribute of an object of the notebook's; None: there is none."""
    return _attributes(value).get(name) if package_of(type(value)) == "__main__" else None


def _attributes(value: Any) -> dict[str, Any]:
    try:
        found: dict[str, Any] = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return found
