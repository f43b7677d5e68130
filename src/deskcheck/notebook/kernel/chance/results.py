"""What of the result of a call is the same in each run, and what the call may change."""

import ast
import functools
import re
from collections.abc import Iterable
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, ModuleType
from typing import Any

from deskcheck.notebook.kernel.chance.meaning import (
    has_models,
    is_estimator,
    is_function,
    is_model,
)
from deskcheck.notebook.kernel.chance.orders import prints
from deskcheck.notebook.kernel.chance.own import OwnFunction, generates
from deskcheck.notebook.kernel.chance.reach import (
    Changes,
    package_of,
)
from deskcheck.notebook.kernel.chance.sources import (
    ARRAYS,
    CHANGING,
    CHOICES,
    CHOOSING,
    FORMING,
    MEASURES,
    OF_ANY_ORDER,
    OF_ITEMS,
    OPENING,
    PERMUTING,
    READS,
    SORTING,
    TEXTS,
)
from deskcheck.notebook.kernel.chance.values import (
    SHUFFLES,
    Known,
    KnownValues,
    Unproved,
    base_of,
    called,
    join,
)

_PURE = frozenset(
    {"builtins", "math", "statistics", "itertools", "functools", "operator", "collections", "re", "json"}
    | {"datetime", "time", "posixpath", "sys", "platform", "string", "textwrap", "decimal", "fractions"}
    | {"pathlib", "io", "copy", "types", "dataclasses", "enum", "warnings", "hashlib", "base64"}
)
"""Packages that draw nothing, but for what the tables of `calls` have."""
_UUIDS = frozenset({"uuid1", "uuid4", "token_hex", "token_urlsafe"})
_MAY_DRAW = re.compile(
    r"rand|normal|bernoul|poisson|dropout|multinom|rrelu|sampl|binomial|uniform|exponential|cauchy|geometric"
    r"|gamma|trunc|kaiming|xavier|orthogonal|sparse"
)
"""Names of functions and methods of torch that draw, and of some that do not."""
_CLOSE = frozenset({"allclose", "array_equal", "array_equiv", "equal"})
"""Functions that compare arrays. Whether numbers that were drawn from an interval are equal is no
chance: they are if they are computed to be, and else never."""
_UNCHANGED = (
    *(int, float, complex, str, bytes, range, type, type(None), functools.partial),
    *(FunctionType, BuiltinFunctionType, MethodDescriptorType),
)
"""Classes whose objects no call changes."""
_LABELLING = frozenset(
    {"title", "xlabel", "ylabel", "suptitle", "figtext", "text", "annotate", "set_title", "set_xlabel"}
    | {"set_ylabel", "grid"}
)
"""Functions and methods of matplotlib that give the text that they are given, not what is plotted."""
_LEAVING = frozenset({"numpy", "scipy", "sklearn", "pandas", "matplotlib", "seaborn", "statsmodels"})
"""Packages of functions and methods that change nothing that they are given, but for these."""
_FILLING = frozenset(
    {"copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis", "shuffle", "at", "apply"}
)
_SORTED = frozenset({"sort_values", "sort_index"})
"""Methods of pandas that sort rows, of which those that are equal keep the order that they had."""
_OF_GROUPS = frozenset({"size", "count", "nunique", "min", "max"})
"""Methods of groups whose result is the same in any order of the rows."""
_ADDING = frozenset({"sum", "mean", "prod", "std", "var"})
"""What they give depends on the order in the last digits."""
_NUMBERS = 1000
"""So many are looked at."""
_OF_KEYS = frozenset({"len", "list", "tuple", "sorted", "set", "iter"})
"""Builtins that give the keys of a dict, or the columns of a data frame, or how many there are."""
_CHANGING_FRAMES = CHANGING | {"fill", "put", "partition", "resize", "setflags", "itemset", "eval", "pipe"}
"""Methods of arrays and data frames that change them in their place, as others do if they are told to."""
_DEPTH = 6
"""Of calls of the notebook's functions, one in another."""


class CallResults(KnownValues):
    """Of the calls of one cell."""

    def _call(self, node: ast.Call) -> Known:
        if not self.draws and not self._by_chance and self._is_apart(node):
            self._take(node)
            return Known.VALUE
        if prints(node):
            self.prints.add(id(node))
            for each in (*node.args, *(given.value for given in node.keywords)):
                self._show(self._value(each), each)
            self.shown += not node.args
            return Known.VALUE
        own = called(node)
        if own in OPENING or (self.reads_files and READS.search(own)):
            return Known.NOTHING
        name = self._builtin(node.func)
        if name is not None:
            return self._of_builtin(name, node)
        given = [*node.args, *(each.value for each in node.keywords)]
        known = join(map(self._value, given))
        function = self._meaning(node.func)
        if own == "fit" or is_model(function):
            return Known.VALUE if known is Known.VALUE and self._learns_the_same(node) else Known.TEXT
        if self._is_drawn(node):
            return self._of_draw(own, node, known)
        if isinstance(node.func, ast.Name) and self.known.get(own) is Known.TEXT:
            return Known.FORM
        if isinstance(node.func, ast.Name) and node.func.id in self.functions:
            if self.known.get(own, Known.VALUE) is Known.VALUE:
                return self._of_function(node)
            self.used[own] = None
            return Known.NOTHING
        if isinstance(node.func, ast.Name | ast.Lambda) and not self.draws:
            self._value(node.func)
        if isinstance(node.func, ast.Call) and is_model(self._meaning(node.func.func)):
            return known if known is Known.NOTHING else Known.FORM  # a layer that is made and called
        found = Known.NOTHING
        if own in _CLOSE and known is Known.FORM and all(map(self._is_continuous, given)):
            return Known.VALUE
        if function is not None:
            found = self._of_library(function, node, known, given)
        elif isinstance(node.func, ast.Attribute):
            found = self._of_method(own, node.func.value, known, given)
        if found is Known.NOTHING:
            changed = () if self._leaves_holder(node) else (node.func,)
            self._touches([*changed, *(() if self._leaves_data(node) else given)], node.func)
            self.gives_away = True
        return found

    def _is_continuous(self, node: ast.expr) -> bool:
        """Whether all variables in an expression that were drawn are arrays of numbers of an interval."""
        drawn = [
            self.namespace.get(each.id)
            for each in ast.walk(node)
            if isinstance(each, ast.Name) and self.known.get(each.id, Known.VALUE) > Known.VALUE
        ]
        calls = (each for each in ast.walk(node) if isinstance(each, ast.Call))
        return not any(map(self._is_drawn, calls)) and all(map(_has_fractions, drawn))

    def _is_drawn(self, node: ast.Call) -> bool:
        return self.drawn(node) is not None or self._draws(node)

    def _touches(self, nodes: Iterable[ast.expr], called: ast.expr | None = None) -> None:
        """A function that is not known, `called`, may have changed what it is of, and what it is given."""
        for node in nodes:
            if isinstance(node, ast.Subscript) and node is called:
                continue  # of what holds a function nothing is changed
            while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
                node = node.value
            if not isinstance(node, ast.Name):
                continue
            value = self.namespace.get(node.id)
            if node.id in self._locals or not (self._is_plain(value) or self._stays(value)):
                self.known[node.id] = max(self.known.get(node.id, Known.VALUE), Known.TYPE)

    def _leaves_data(self, node: ast.Call) -> bool:
        """Whether it is a function or method of a library for data that does not change what it is given."""
        place: ast.expr | None = node.func
        function = self._meaning(node.func)
        while place is not None and (function is None or isinstance(function, ModuleType)):
            inner = place.func if isinstance(place, ast.Call) else getattr(place, "value", None)
            place = inner if isinstance(inner, ast.expr) else None
            function = self._meaning(place) if place is not None else None
        if function is not None and not is_function(function):
            function = type(function)
        package = _module_of(function).partition(".")[0] if function is not None else ""
        fills = called(node) in _FILLING or any(each.arg == "out" for each in node.keywords)
        return package in _LEAVING and not fills

    def _leaves_holder(self, node: ast.Call) -> bool:
        """Whether it is a method of an array or data frame, or of a part of one, that does not change it."""
        root = base_of(node.func)
        if root is None or root is node.func or root.id in self._locals:
            return False
        kind = type(self.namespace.get(root.id))
        if package_of(kind) not in ("numpy", "pandas") or not hasattr(kind, "shape"):
            return False
        told = any(each.arg in ("inplace", "out", None) for each in node.keywords)
        return called(node) not in _CHANGING_FRAMES and not told

    def _learns_the_same(self, node: ast.Call) -> bool:
        """Whether an estimator of scikit-learn is made, or made and fitted, with a seed."""
        made = node.func.value if isinstance(node.func, ast.Attribute) else node
        if called(node) != "fit":
            made = node
        kind = self._meaning(made.func) if isinstance(made, ast.Call) else None
        if not (isinstance(made, ast.Call) and isinstance(kind, type) and is_estimator(kind)):
            return False
        if self._is_drawn(node):
            return False
        seeds = [each.value for each in made.keywords if each.arg == "random_state"]
        seeded = any(isinstance(each, ast.Constant) and each.value is not None for each in seeds)
        given = [*made.args, *(each.value for each in made.keywords)]
        same = join(map(self._value, given)) is Known.VALUE
        return same and seeded

    def _stays(self, value: Any) -> bool:
        """Whether nothing that the statement runs changes an object of the notebook's, or a collection."""
        if self._at is None:
            return False
        if self._changes_there is None:
            defined = (each for function in self.functions.values() for each in ast.walk(function))
            named = {each.arg for each in defined if isinstance(each, ast.arg)}
            self._changes_there = Changes(self._nodes(self._at), named, self._is_safe)
        return self._changes_there.keep(value)

    def _is_safe(self, node: ast.Call) -> bool:
        """Whether a call changes nothing that it is given, but for what the notebook's own code does."""
        if self._builtin(node.func) is not None:
            return True
        function = self._meaning(node.func)
        if function is None:  # a method, or a parameter
            return isinstance(node.func, ast.Attribute) or getattr(node.func, "id", "") in self._locals
        if getattr(function, "__module__", "") == "__main__":
            return isinstance(function, FunctionType | type)
        if not is_function(function) or getattr(function, "__name__", "") in SHUFFLES:
            return False
        return _module_of(function).partition(".")[0] in _PURE | {"random"}

    def _is_plain(self, value: Any) -> bool:
        """Whether nothing changes it, or only what we know. What a library draws it may keep for itself."""
        if issubclass(type(value), ModuleType):
            return not self.draws or value.__name__.partition(".")[0] in _PURE | ARRAYS
        return issubclass(type(value), _UNCHANGED)

    def _of_builtin(self, name: str, node: ast.Call) -> Known:
        given = [*map(self._value, node.args)]
        known = join([*given, *(self._value(each.value) for each in node.keywords)])
        if known is Known.VALUE:
            return known
        if known is Known.NOTHING:
            self._calls_back(node)
        if name in ("callable", "hasattr", "issubclass"):
            return Known.VALUE
        if name in ("type", "isinstance"):
            return Known.VALUE if known is not Known.NOTHING else Known.NOTHING
        if name in _OF_KEYS and len(node.args) == 1 and not node.keywords and self._is_of_keys(node.args[0]):
            return Known.VALUE
        if name == "len":
            return Known.VALUE if known <= Known.COUNT else Known.NOTHING
        if name in OF_ITEMS:
            if known is Known.ITEMS:
                return self._of_items(name, node)
            if name in ("set", "frozenset") or known > Known.COUNT:
                return Known.NOTHING
            return Known.FORM if known <= Known.FORM else Known.COUNT if name == "sorted" else Known.NOTHING
        if name in TEXTS:
            return self._text(node.args)
        return known if name in FORMING else Known.NOTHING

    def _calls_back(self, node: ast.Call) -> None:
        """A builtin that is given functions calls them with the items that it is given."""
        given = [*node.args, *(each.value for each in node.keywords)]
        if any(
            isinstance(each, ast.Lambda) or isinstance(self._meaning(each), FunctionType) for each in given
        ):
            self._touches(each for value in given for each in ast.walk(value) if isinstance(each, ast.Name))

    def _of_items(self, name: str, node: ast.Call) -> Known:
        """What a builtin gives of items in any order. Of those that are equal by a key, the first counts."""
        if name in ("set", "frozenset"):
            return Known.ITEMS
        if any(each.arg == "key" for each in node.keywords):
            return Known.ITEMS if name == "sorted" else Known.NOTHING
        if name == "sum" and not (len(node.args) == 1 and self._adds_exactly(node.args[0])):
            return Known.NOTHING
        return Known.VALUE

    def _adds_exactly(self, node: ast.expr) -> bool:
        """Whether the sum of items is the same in any order, to the last digit: of a variable with numbers
        that are whole, or short; of what is made there, where no float is seen."""
        value = self._meaning(node)
        if value is None:
            constants = (each.value for each in ast.walk(node) if isinstance(each, ast.Constant))
            names = (self._meaning(each) for each in ast.walk(node) if isinstance(each, ast.Name))
            return all(map(_are_short, (*constants, *names)))
        return _are_short(value)

    def _of_draw(self, own: str, node: ast.Call, known: Known) -> Known:
        if known is Known.FORM and own == "train_test_split":
            return Known.FORM
        if own == "sample" and isinstance(node.func, ast.Attribute) and self._is_array(node.func.value):
            known = join((known, self._value(node.func.value)))
            if known is Known.FORM:
                return known
        if known > Known.ITEMS:
            return Known.NOTHING
        if own in _UUIDS:
            return Known.LENGTH
        if own in PERMUTING or (own == "sample" and self._takes_all(node)):
            return Known.ITEMS
        if own == "sample" and isinstance(node.func, ast.Attribute) and self._is_array(node.func.value):
            return Known.FORM
        if own in CHOICES and not (node.keywords or len(node.args) > 1):
            return Known.NOTHING  # one of several, which need not be alike
        return Known.COUNT if own in ("choices", "sample") else Known.FORM

    def _takes_all(self, node: ast.Call) -> bool:
        """Whether as many are drawn, without putting them back, as there are."""
        named = {each.arg: each.value for each in node.keywords}
        frac = named.get("frac")
        if isinstance(frac, ast.Constant) and frac.value == 1:
            return "replace" not in named
        taken = node.args[1] if len(node.args) > 1 else named.get("k")
        if taken is None or not node.args:
            return False
        there, count = node.args[0], self._length(node.args[0])
        if isinstance(taken, ast.Call) and self._builtin(taken.func) == "len":
            return ast.dump(taken.args[0]) == ast.dump(there)
        return isinstance(taken, ast.Constant) and count is not None and taken.value == count

    def _length(self, node: ast.expr) -> int | None:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return len(node.value)
        if isinstance(node, ast.List | ast.Tuple):
            return len(node.elts) if not any(isinstance(each, ast.Starred) for each in node.elts) else None
        if isinstance(node, ast.Name):
            value = self.namespace.get(node.id)
            return len(value) if isinstance(value, list | tuple | str | range) else None
        if isinstance(node, ast.Call) and self._builtin(node.func) == "range":
            given = [each.value for each in node.args if isinstance(each, ast.Constant)]
            if given and len(given) == len(node.args) and all(type(each) is int for each in given):
                return len(range(*given))  # type: ignore[arg-type]
        return None

    def _draws(self, node: ast.Call) -> bool:
        """Whether it is a method of a generator that is a variable."""
        if not isinstance(node.func, ast.Attribute):
            return False
        kind = type(self._meaning(node.func.value))
        return kind.__module__.startswith(("random", "numpy.random")) and kind.__name__ in (
            *("Random", "SystemRandom", "Generator", "RandomState"),
        )

    def _of_function(self, node: ast.Call) -> Known:
        """What a function of the notebook returns, and what it shows."""
        assert isinstance(node.func, ast.Name)
        name = node.func.id
        definition = self.functions[name]
        if name in self._calls or len(self._calls) >= _DEPTH or generates(definition):
            raise Unproved(name)
        arguments = definition.args
        given = [self._value(each) for each in node.args]
        if arguments.vararg or arguments.kwarg or any(isinstance(each, ast.Starred) for each in node.args):
            raise Unproved(name)
        names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
        defaults = [each for each in (*arguments.defaults, *arguments.kw_defaults) if each is not None]
        if any(self._value(each) > Known.VALUE for each in defaults):
            return Known.NOTHING
        local = dict(zip(names, given, strict=False))
        local |= {each.arg: self._value(each.value) for each in node.keywords if each.arg is not None}
        kept, returned, by_chance, outer = self.known, self._returned, self._by_chance, self._locals
        ended, self._ended = self._ended, False
        self._locals = own = {*OwnFunction(definition, {}).locals()}
        self.known = {key: value for key, value in kept.items() if key not in own} | local
        self._returned = []
        self._calls.append(name)
        try:
            self._go(definition.body)
            found, left = join(self._returned), self.known
        finally:
            self._calls.pop()
            self._ended = ended
            self.known, self._returned, self._by_chance, self._locals = kept, returned, by_chance, outer
        self.known |= {key: value for key, value in left.items() if key not in own}
        for parameter, argument in zip(names, node.args, strict=False):
            if not isinstance(argument, ast.Name) or self._is_plain(self.namespace.get(argument.id)):
                continue
            if left.get(parameter, Known.VALUE) > local[parameter]:
                self.known[argument.id] = left[parameter]
            elif self.draws and not self._is_data(argument.id):
                self._touches([argument])
        return found

    def _of_library(self, function: Any, node: ast.Call, known: Known, given: list[ast.expr]) -> Known:
        own = called(node)
        if not is_function(function):
            return Known.NOTHING  # something that is called, as a `functools.partial`
        module = _module_of(function)
        if own in _LABELLING and module.startswith("matplotlib.") and known is Known.VALUE:
            return known
        package = module.partition(".")[0]
        if module.startswith("sklearn.datasets.") and own.startswith(("load_", "fetch_")):
            return known
        if own in ("Counter", "get_dummies") and known is Known.ITEMS:
            return known
        if own == "DataFrame" and package == "pandas" and self._parts_of(node) is None:
            named = any(each.arg in ("columns", "index") for each in node.keywords)
            if known > Known.VALUE and (named or len(node.args) > 1):
                return Known.NOTHING
        elif own == "DataFrame" and package == "pandas":
            of_arrays = known < Known.COUNT or isinstance(given[0], ast.Dict)
            return known if known is Known.VALUE else Known.FORM if of_arrays else Known.TYPE
        pure = package in _PURE or (package in ("numpy", "pandas") and "random" not in module)
        if pure or (package == "torch" and not has_models(type(function)) and not _MAY_DRAW.search(own)):
            if known is Known.VALUE:
                return known
            if known is Known.ITEMS and own in SORTING and len(given) == 1:
                return Known.VALUE if self._in_any_order(own, given[0]) else Known.FORM
        if package in ARRAYS and known < Known.COUNT and own not in CHOOSING:
            return Known.FORM
        return Known.NOTHING

    def _in_any_order(self, own: str, node: ast.expr) -> bool:
        """Whether what is computed of items in any order is the same to the last digit that is shown: a data
        frame shows few."""
        if own not in _ADDING or type(self._meaning(node)).__name__ == "DataFrame":
            return True
        return own in ("sum", "mean") and self._adds_exactly(node)

    def _is_plot(self, node: ast.expr) -> bool:
        """Whether it is a part of a plot."""
        return package_of(type(self._meaning(node))) in ("matplotlib", "mpl_toolkits")

    def _is_sorted_alone(self, own: str, holder: ast.expr, given: list[ast.expr]) -> bool:
        """Whether no two rows of a series or data frame are equal by what they are sorted by."""
        if isinstance(holder, ast.Call) and isinstance(holder.func, ast.Attribute):  # df.sample(frac=1)
            holder = holder.func.value
        value = self._meaning(holder)
        if package_of(type(value)) != "pandas":
            return False
        if own == "sort_index":
            return not given and bool(getattr(value.index, "is_unique", False))
        if given and isinstance(given[0], ast.Constant) and type(value).__name__ == "DataFrame":
            column = value.get(given[0].value)
            return column is not None and bool(getattr(column, "is_unique", False))
        return not given and bool(getattr(value, "is_unique", False))

    def _groups_items(self, node: ast.expr) -> bool:
        """Whether rows in any order are grouped by columns, or a column of these is chosen. The groups are
        sorted by their keys."""
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant | ast.List):
            node = node.value
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            return False
        sorts = called(node) == "groupby" and len(node.args) == 1 and not node.keywords
        keys = node.args[0].elts if sorts and isinstance(node.args[0], ast.List) else node.args
        written = all(isinstance(each, ast.Constant) for each in keys)
        return sorts and written and self._value(node.func.value) is Known.ITEMS

    def _of_method(self, own: str, holder: ast.expr, known: Known, given: list[ast.expr]) -> Known:
        base = self._value(holder)
        if base is Known.TEXT:
            return Known.TEXT if own in ("eval", "train", "to", "cpu", "cuda", "fit") else Known.FORM
        if own in MEASURES and base < Known.COUNT:
            return Known.VALUE
        if own in ("keys", "size") and not given and self._parts_of(holder) is not None:
            return Known.VALUE
        if own == "format":
            return Known.VALUE if base is Known.VALUE and known <= Known.TEXT else Known.NOTHING
        if base is known is Known.VALUE and not self.draws:
            return Known.VALUE
        if own in _LABELLING and known is Known.VALUE and self._is_plot(holder):
            return Known.VALUE
        if base is Known.VALUE:
            value, base_name = self._meaning(holder), base_of(holder)
            if value is None and base_name is not None and self._is_array(base_name):
                value = self._meaning(base_name)  # a part of it
            kind = package_of(type(value))
            literal = isinstance(holder, ast.Constant | ast.JoinedStr | ast.List | ast.Dict)
            pure = literal or (value is not None and kind in _PURE) or kind in ("numpy", "pandas")
            if kind == "torch" and not has_models(type(value)):
                pure = not _MAY_DRAW.search(own)
            if pure and known is Known.VALUE and own != "sample":
                return Known.VALUE
            formed = kind in ARRAYS and known < Known.COUNT and own not in CHOOSING
            return Known.FORM if formed else Known.NOTHING
        if own in _OF_GROUPS and not given and self._groups_items(holder):
            return Known.VALUE
        if base is Known.ITEMS and known is Known.VALUE and own in _SORTED:
            return Known.VALUE if self._is_sorted_alone(own, holder, given) else Known.ITEMS
        if base is Known.ITEMS and own in OF_ANY_ORDER and (not given or own == "count"):
            return Known.VALUE if self._in_any_order(own, holder) else Known.FORM
        if own in CHOOSING or max(known, base) >= Known.COUNT:
            return Known.NOTHING
        return base if base is Known.LENGTH else Known.FORM


def _are_short(value: Any) -> bool:
    """Whether it is, or has, numbers of few digits in binary, which are added exactly in any order."""
    if isinstance(value, list | tuple | set | frozenset | range):
        return len(value) <= _NUMBERS and all(map(_are_short, value))
    if type(value).__module__ == "numpy" and str(getattr(value, "dtype", "")).startswith(("int", "uint")):
        return True
    if type(value).__module__ == "numpy" and str(getattr(value, "dtype", "")).startswith("float"):
        return bool((value * 1024 % 1 == 0).all() and (abs(value) < 2**32).all())
    if isinstance(value, float):
        return (value * 1024).is_integer() and abs(value) < 2**32
    return not isinstance(value, complex)


def _module_of(function: Any) -> str:
    """The module of a function; of a method that stands for one, as those of C do, that of what it is of."""
    module = getattr(function, "__module__", None)
    if isinstance(module, str):
        return module
    holder = getattr(function, "__self__", function)
    return str((holder if isinstance(holder, type) else type(holder)).__module__)


def _has_fractions(value: Any) -> bool:
    """Whether it is an array of floats that are not all whole: numbers of an interval, not of a few."""
    if not str(getattr(value, "dtype", "")).rpartition(".")[2].startswith("float"):
        return False
    return bool((value % 1 != 0).any())
