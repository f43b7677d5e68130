"""What a cell shows that is another in each run: followed in its source, from where that comes.

In the kernel's process. Where it comes from: the draws of `chance` and `draws`, clocks, numbers of processes,
addresses, names of temporary files, hashes of text, the order of sets of text. It is followed through
assignments, arithmetic, comparisons, indexes, methods, the formatting of text, the builtins that keep it,
and the notebook's own functions, with what they are given. A duration (one clock's value less another) may be
the same in each run, as may two values that are compared with each other, unless they were drawn: these are
not followed. Of a model of torch or scikit-learn, what it computes and has learned is followed; its own text
does not tell that. Nothing is called."""

import ast
import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import PurePath
from types import FunctionType, MethodDescriptorType, ModuleType
from typing import Any, TypeGuard

from deskcheck.notebook.kernel.chance.harmless import hash_varies
from deskcheck.notebook.kernel.chance.meaning import (
    Meanings,
    constant_weights,
    has_weights,
    is_estimator,
    learns_by_chance,
    module_of,
)
from deskcheck.notebook.kernel.chance.orders import ADDRESS, HASH, ORDER, Order, SetOrders, prints
from deskcheck.notebook.kernel.chance.own import Definition, UnknownValue, held_by, is_own
from deskcheck.notebook.kernel.chance.sources import (
    CHOICES,
    CLOCK,
    DEVICE,
    DEVICES,
    FILE,
    FILE_TIME,
    GIVING_NONE,
    GROWING,
    GROWING_IN_ORDER,
    KEEPING,
    KEEPING_DRAWN,
    NO_VALUES,
    NOW,
    OF_ANY_ORDER,
    OF_ITEMS,
    OF_VALUES,
    OPENING,
    ORDERED,
    ORDERED_INSIDE,
    QUERIES,
    QUERY,
    READING,
    SHELL,
    SORTING,
    TAKING_IN,
    TEXTS,
    TIME,
    TIMES_OF_FILES,
    WHOLE,
    WITH_INDEX,
    ChanceOrigin,
    is_random_query,
    runs_random,
    telling_functions,
)
from deskcheck.notebook.state.dependencies import parse
from deskcheck.notebook.trajectory.chance import ChanceKind, ChanceSource, drawn_from

_DEPTH = 8
"""Of the notebook's functions that are followed, one in another."""
_WRITTEN = frozenset({"tensor", "ones", "zeros", "full", "eye", "arange", "linspace", "float", "double"})
"""Functions and methods of torch that give the numbers that they are given."""
_WEIGHTS = ("weight", "bias", "data", "grad")
"""How the names of attributes begin that are values of a model of torch."""
_OF_MODELS = frozenset(
    {"train", "eval", "to", "cpu", "cuda", "float", "double", "half", "apply", "requires_grad_", "zero_grad"}
    | {"children", "modules", "parameters", "named_children", "named_modules", "named_parameters"}
    | {"state_dict", "load_state_dict", "add_module", "get_submodule", "register_buffer", "buffers"}
    | {"fit", "partial_fit", "get_params", "set_params", "n_features_in_", "feature_names_in_", "classes_"}
)
"""Methods of a model of torch or scikit-learn that do not compute with it, and attributes that do not tell
what it learned."""
_SHOWS_NO_VALUE = re.compile(r"\A\s*%%(?!time\b)|^\s*%(?!time\b)[^\n]*\Z|;\s*\Z", re.MULTILINE)
"""A cell whose last expression is not shown: under a magic such as ``%timeit``, or with a semicolon."""


class ShownChance:
    """Of the cells of one kernel, in their order. names: variables that are another in each run."""

    def __init__(self) -> None:
        self.names: dict[str, ChanceOrigin] = {}
        self._orders = SetOrders()
        self._passed: list[str] = []

    def passed(self, code: str) -> None:
        """A cell that is not read: what it defines may be used later."""
        self._passed.append(code)

    def of(
        self,
        tree: ast.Module,
        namespace: Mapping[str, Any],
        drawn: Callable[[ast.Call], str | None],
        code: str = "",
    ) -> tuple[ChanceSource, ...]:
        """Where that comes from which the next cell shows and which is another in each run. namespace: the
        user's variables when it has ended. drawn: which generator a call draws from. code: the
        cell, with its magics."""
        for each in map(parse, self._passed):
            if each is not None:
                self._orders.definitions.add(each)
        self._passed = []
        self._orders.of(tree, namespace, self.names, shows_last=shows_value(code))
        cell = _Cell(self.names, namespace, drawn, self._orders)
        if Order.VALUE in self._orders.shown.values():  # by a function, perhaps
            cell.found.append(self._orders.reason)
        cell.go(tree.body)
        self.names = cell.names
        if shows_value(code) and tree.body and isinstance(last := tree.body[-1], ast.Expr):
            cell.show(last.value)
        if self._orders.unsure and not cell.found:
            return (ChanceSource(ChanceKind.PERHAPS, ORDER.label),)
        return tuple(dict.fromkeys(cell.found))


class _Cell:
    def __init__(
        self,
        names: dict[str, ChanceOrigin],
        namespace: Mapping[str, Any],
        drawn: Callable[[ast.Call], str | None],
        orders: SetOrders,
        callers: tuple[Definition, ...] = (),
    ) -> None:
        self.names = names
        self.orders = orders
        self.callers = callers
        """The functions that are followed, one in another."""
        self.namespace = dict(namespace)
        self.values = Meanings(self.namespace, orders)
        self.drawn = drawn
        self.labels = telling_functions()
        self.found: list[ChanceSource] = []
        self.returned: list[ChanceOrigin] = []
        """What a function returns or yields, or by what it is decided what that is."""

    def show(self, value: ast.expr) -> None:
        source, order = self.value(value), self.orders.shown.get(id(value))
        if order is Order.VALUE:
            source = ChanceOrigin(self.orders.reason)
        elif order is not None and source is not None and source.source in (ORDER, ADDRESS):
            source = None
        if source is not None and not source.inside:
            self.found.append(source.source)

    def go(self, body: list[ast.stmt], *, always: bool = True) -> None:
        """Statements in their order. always: they run whenever the cell does."""
        for statement in body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self.names.pop(statement.name, None)
            elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                if prints(statement.value):
                    for given in statement.value.args:
                        self.show(given)
                elif self._own(statement.value.func) is not None:
                    self.value(statement.value)  # it may print
                self._changes(statement.value)
            elif isinstance(statement, ast.Return) or _yields(statement):
                self._returns(statement.value)
            elif isinstance(statement, ast.Import | ast.ImportFrom):
                self._imports(statement)
            elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
                self._assign(statement, always=always)
            elif isinstance(statement, ast.For):
                self._loop(statement)
            elif isinstance(statement, ast.With):
                labels = self.labels
                patched = {*self._patched(statement)}
                self.labels = {each: label for each, label in labels.items() if each not in patched}
                for item in statement.items:
                    source = self.value(item.context_expr)
                    if isinstance(item.optional_vars, ast.Name) and source is not None:
                        self.names[item.optional_vars.id] = source
                self.go(statement.body, always=False)
                self.labels = labels
            else:
                test = self.value(statement.test) if isinstance(statement, ast.If | ast.While) else None
                if test is not None and test.fine and any(map(prints, ast.walk(statement))):
                    self.found.append(test.source)
                if test is not None and test.fine and test.source != ORDER:
                    returns = any(isinstance(each, ast.Return | ast.Yield) for each in ast.walk(statement))
                    self.returned += [test] * returns
                for inner in _blocks(statement):
                    self.go(inner, always=False)
            self._settle(statement)

    def _imports(self, statement: ast.Import | ast.ImportFrom) -> None:
        """A function imports modules, or what they have."""
        for each in statement.names if self.callers else ():
            name = each.asname or each.name.partition(".")[0]
            if isinstance(statement, ast.Import):
                found = sys.modules.get(each.name if each.asname else name)
            else:
                found = vars(sys.modules.get(statement.module or "", sys)).get(each.name)
            self.namespace[name] = found

    def _returns(self, node: ast.expr | None) -> None:
        """A function returns or yields the value of an expression."""
        value = node.value if isinstance(node, ast.Yield | ast.YieldFrom) else node
        source = self.value(value)
        if isinstance(node, ast.YieldFrom) and self.values.is_set_of_text(value):
            source = ChanceOrigin(ORDER)
        self.returned += [source] if source is not None else []

    def _settle(self, statement: ast.stmt) -> None:
        """What of variables depends on the order of sets, where that was computed."""
        for name, order in self.orders.given.get(id(statement), {}).items():
            if order is not Order.NONE:
                self.names[name] = ChanceOrigin(self.orders.reason, inside=order is Order.KEYS)
            elif name in self.names and self.names[name].source in (ORDER, ADDRESS):
                del self.names[name]

    def _patched(self, statement: ast.With) -> Iterator[int]:
        """`id` of the functions that have another in their place inside of it."""
        for call in (each.context_expr for each in statement.items):
            if not isinstance(call, ast.Call):
                continue
            own = getattr(call.func, "attr", getattr(call.func, "id", ""))
            given = [each.value if isinstance(each, ast.Constant) else None for each in call.args[:2]]
            if own == "patch" and given and isinstance(given[0], str):
                module, _, name = given[0].rpartition(".")
                yield id(getattr(sys.modules.get(module), name, None))
            elif own == "object" and len(given) == 2 and isinstance(given[1], str):
                yield id(getattr(self.values.meaning(call.args[0]), given[1], None))

    def _loop(self, statement: ast.For) -> None:
        targets = [node.id for node in ast.walk(statement.target) if isinstance(node, ast.Name)]
        over = self.value(statement.iter)
        if self.values.is_set_of_text(_looped(statement.iter)):
            over = ChanceOrigin(ORDER)
        self.names.update((name, over) for name in targets if over is not None)
        for name in targets if over is None else ():
            self.names.pop(name, None)
        shown = len(self.found)
        before = dict(self.names)
        self.go(statement.body, always=False)
        if over is not None and over.source == ORDER and len(self.found) == shown:
            grown = dict.fromkeys(_grown(statement.body), ChanceOrigin(ORDER))
            self.names = before | grown  # of the others, it may have added up what has no order
        self.go(statement.orelse, always=False)

    def _assign(self, statement: ast.Assign | ast.AnnAssign | ast.AugAssign, *, always: bool) -> None:
        source = None if statement.value is None else self.value(statement.value)
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            if isinstance(target, ast.Subscript):
                self._assign_part(target, source)
                continue
            for node in ast.walk(target):
                if not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)):
                    continue
                own = self.namespace.get(node.id)
                weights = True if learns_by_chance(own) else has_weights(own)
                if source is not None and weights is not False:
                    self.names[node.id] = replace(source, inside=True) if weights else source
                elif always and not isinstance(statement, ast.AugAssign):
                    self.names.pop(node.id, None)

    def _assign_part(self, target: ast.Subscript, source: ChanceOrigin | None) -> None:
        """An item of a variable is given a value: under a key that is written out, that item alone is another
        in each run."""
        place = self.value(target.slice)
        if not isinstance(target.value, ast.Name):
            return
        name, before = target.value.id, self.names.get(target.value.id)
        if place is not None:
            self.names[name] = place
        elif not isinstance(target.slice, ast.Constant):
            if source is not None:
                self.names[name] = source
        elif before is None or before.parts:
            parts = {**dict(before.parts if before is not None else ()), target.slice.value: source}
            first = next((each for each in parts.values() if each is not None), None)
            if first is not None:
                self.names[name] = replace(first, parts=tuple(parts.items()))
            else:
                self.names.pop(name, None)

    def _changes(self, call: ast.Call) -> None:
        """A variable is changed in its place: a model is fitted, a list grows or is shuffled."""
        if not isinstance(call.func, ast.Attribute):
            return
        label, changed, found = self.drawn(call), call.func.value, None
        if call.func.attr == "fit" and label is not None:
            found = ChanceOrigin(drawn_from(label), inside=True)
        elif call.func.attr == "shuffle" and label is not None and call.args:
            found, changed = ChanceOrigin(drawn_from(label)), call.args[0]
        elif call.func.attr == "load_state_dict" and (given := self._any(call.args)) is not None:
            found = replace(given, inside=True)
        elif call.func.attr in GROWING:
            found = self._any(call.args)
        elif isinstance(changed, ast.Name) and self._gets_values(call):
            self.names.pop(changed.id, None)
        if found is not None and isinstance(changed, ast.Name):
            self.names[changed.id] = found

    def _gets_values(self, call: ast.Call) -> bool:
        """Whether a variable is given all of its values anew: a list is sorted, a model gets its weights."""
        own, holder = getattr(call.func, "attr", ""), getattr(call.func, "value", None)
        found = self.value(holder)
        if found is None:
            return False
        if own == "sort":
            return found.source == ORDER and not call.keywords
        written = len(call.args) == 1 and isinstance(call.args[0], ast.Dict) and not call.keywords
        return own == "load_state_dict" and written and self._is_written_out(call.args[0])

    def _is_written_out(self, node: ast.expr) -> bool:
        """Whether an expression has no variables and draws nothing: a file may hold what was drawn."""
        nodes = [*ast.walk(node)]
        names = (self.namespace.get(each.id) for each in nodes if isinstance(each, ast.Name))
        calls = (each for each in nodes if isinstance(each, ast.Call))
        written = all(getattr(each.func, "attr", "") in _WRITTEN for each in calls)
        return written and all(isinstance(each, ModuleType) for each in names)

    def value(self, node: ast.expr | None) -> ChanceOrigin | None:
        """Where the value of an expression comes from that is another in each run."""
        match node:
            case ast.Name():
                found = self.names.get(node.id)
                if found is None or found.source.kind is not ChanceKind.DRAWN:
                    return found
                label = f"the value of {node.id} ({found.source.label})"
                return replace(found, source=ChanceSource(ChanceKind.VALUE, label))
            case ast.Call():
                return self._call(node)
            case ast.BinOp():
                return self._arithmetic(node)
            case ast.Compare():
                return self._comparison(node)
            case ast.Attribute() if TIMES_OF_FILES.fullmatch(node.attr):
                return ChanceOrigin(FILE_TIME, fine=False, clock=True)
            case ast.Attribute():
                found = self.value(node.value)
                if found is not None and found.parts:
                    return found if node.attr in WHOLE else _part(found, node.attr)
                if found is not None and found.inside:
                    if constant_weights(self.values.meaning(node.value), node.attr):
                        return None
                    own = node.attr.startswith(_WEIGHTS) or node.attr.endswith("_")
                    return replace(found, inside=not own or node.attr in _OF_MODELS)
                if found is not None and found.keyed and node.attr in ("index", "columns", "values"):
                    return replace(found, keyed=False)
                if found is not None and found.index:
                    return replace(found, index=False) if node.attr == "index" else None
                if node.attr in NO_VALUES and not (
                    found is not None and found.source == FILE and node.attr == "name"
                ):
                    return None
                if found is not None and node.attr in ("microsecond", "nanosecond"):
                    return replace(found, fine=True, clock=False)
                return found
            case ast.Subscript():
                found = self.value(node.value) or self.value(node.slice)
                if found is not None and found.keyed:
                    return found if self._has_order(node) else None
                key = node.slice.elts[-1] if isinstance(node.slice, ast.Tuple) else node.slice
                rows = isinstance(node.value, ast.Attribute) and node.value.attr in WHOLE
                by_rows = rows and key is node.slice
                if found is not None and found.parts and isinstance(key, ast.Constant) and not by_rows:
                    told = dict(found.parts)
                    return _part(found, key.value) if key is node.slice or key.value in told else found
                return None if found is None else replace(found, fine=True, clock=False)
            case ast.UnaryOp() | ast.FormattedValue():
                return self.value(node.operand if isinstance(node, ast.UnaryOp) else node.value)
            case ast.IfExp():
                tested = self.value(node.test)
                return tested if tested is not None and tested.fine else self._any([node.body, node.orelse])
            case ast.JoinedStr() | ast.BoolOp():
                return self._any(node.values) or self._of_order(node)
            case ast.List() | ast.Tuple():
                stars = (each.value for each in node.elts if isinstance(each, ast.Starred))
                if any(map(self.values.is_set_of_text, stars)):
                    return ChanceOrigin(ORDER)
                return self._any(node.elts)
            case ast.Dict():
                found = self._any([each for each in (*node.keys, *node.values) if each is not None])
                if found is None or not all(isinstance(key, ast.Constant) for key in node.keys):
                    return found
                keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
                return replace(found, parts=tuple(zip(keys, map(self.value, node.values), strict=True)))
            case ast.ListComp() | ast.GeneratorExp():
                first = node.generators[0]
                if not first.ifs and self.values.is_set_of_text(_looped(first.iter)):
                    return ChanceOrigin(ORDER) if not isinstance(node.elt, ast.Constant) else None
                return self._each(node)
            case ast.DictComp():
                order = self.orders.order(node)
                if order in (Order.KEYS, Order.VALUE):
                    return ChanceOrigin(ORDER, inside=order is Order.KEYS)
            case ast.NamedExpr():
                return self.value(node.value)
        return None

    def _has_order(self, node: ast.Subscript) -> bool:
        """Whether it is a part of what has items by keys, whose order is chance: no single item of it."""
        holder: ast.expr = node.value
        by = None
        if isinstance(holder, ast.Attribute) and holder.attr in ("loc", "at", "iloc", "iat"):
            by, holder = holder.attr, holder.value
        if by in ("iloc", "iat") or isinstance(node.slice, ast.Slice | ast.List):
            return True
        if by is not None:
            keys = node.slice.elts if isinstance(node.slice, ast.Tuple) else ()
            return any(isinstance(each, ast.Slice) for each in keys)
        return not self._is_series(holder)

    def _is_series(self, node: ast.expr) -> bool:
        """Whether it is a variable with a series of pandas, or a call that makes one."""
        made = (
            self.values.meaning(node.func) if isinstance(node, ast.Call) else type(self.values.meaning(node))
        )
        return getattr(made, "__name__", "") == "Series"

    def _any(self, nodes: list[ast.expr]) -> ChanceOrigin | None:
        return next((found for each in nodes if (found := self.value(each)) is not None), None)

    def _each(self, node: ast.ListComp | ast.GeneratorExp) -> ChanceOrigin | None:
        """Of a comprehension: its variables have what was drawn of what it goes through."""
        before, self.names = self.names, dict(self.names)
        for each in node.generators:
            over = self.value(each.iter)
            for name in (name for name in ast.walk(each.target) if isinstance(name, ast.Name)):
                self.names.pop(name.id, None)
                if over is not None and not over.inside and _is_drawn(over):
                    self.names[name.id] = over
        found = self.value(node.elt)
        self.names = before
        return found

    def _arithmetic(self, node: ast.BinOp) -> ChanceOrigin | None:
        left, right = self.value(node.left), self.value(node.right)
        found = left or right
        if found is None:
            return None
        if isinstance(node.op, ast.Sub) and found.clock:
            other = node.right if left is not None else node.left
            return found if isinstance(other, ast.Constant) else None
        return replace(found, fine=True) if isinstance(node.op, ast.Mod | ast.BitAnd) else found

    def _comparison(self, node: ast.Compare) -> ChanceOrigin | None:
        if any(isinstance(each, ast.Is | ast.IsNot) for each in node.ops):
            return None
        sides = [self.value(each) for each in (node.left, *node.comparators)]
        found = [each for each in sides if each is not None and each.fine]
        if isinstance(node.ops[-1], ast.In | ast.NotIn) and sides[-1] is not None and sides[-1].keyed:
            return sides[0]
        if len(found) == 1 or (len(found) == 2 and all(map(_is_drawn, found)) and _are_apart(node)):
            return found[0]
        return None

    def _call(self, node: ast.Call) -> ChanceOrigin | None:
        label = self.drawn(node)
        if label is not None:
            return ChanceOrigin(drawn_from(label), inside=self.is_fit(node))
        if self._opens_device(node):
            return ChanceOrigin(DEVICE, inside=getattr(node.func, "attr", "") not in READING)
        name = self.values.builtin(node.func)
        if name is not None:
            return self._of_builtin(name, node)
        function = self.values.meaning(node.func)
        if module_of(function) == "posix" and getattr(function, "__name__", "") in READING:
            given = self._any(node.args)
            return None if given is None else replace(given, inside=False)
        if (called := self._own(node.func)) is not None:
            if called[1] not in self.callers:
                return self._returned(*called, node)
            given = self._any(node.args)  # it calls itself
            return given if given is not None and _is_drawn(given) else None
        found = self.labels.get(id(function)) if function is not None else None
        if found is not None:
            return self._of_clock(found, function, node)
        if getattr(node.func, "attr", "") in QUERIES and any(map(is_random_query, node.args)):
            return ChanceOrigin(QUERY)
        if module_of(function) in ("subprocess", "os", "posix") and runs_random(function, node):
            return ChanceOrigin(SHELL)
        model = self.value(node.func.value if isinstance(node.func, ast.Attribute) else node.func)
        if model is not None and model.inside:
            own = getattr(node.func, "attr", "")
            return replace(model, inside=own in _OF_MODELS)
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in ORDERED_INSIDE and node.args and self.values.is_set_of_text(node.args[0]):
            return ChanceOrigin(ORDER, inside=True)
        made = node.func.func if isinstance(node.func, ast.Call) else None
        if (
            made is not None and module_of(self.values.meaning(made)) in OF_VALUES
        ):  # nn.MSELoss()(output, target)
            return self._any([*node.args])
        passes = module_of(function) in ("itertools", "_functools") or name in CHOICES
        if passes and module_of(function) in ("itertools", "_functools", "random"):
            if any(map(self.values.is_set_of_text, node.args)):
                return ChanceOrigin(ORDER)
            return self._any(node.args)
        if module_of(function) == "numpy" and name in SORTING and not node.keywords:
            given = self._any(node.args)
            return None if given is not None and given.source == ORDER else given
        maker = function
        if isinstance(node.func, ast.Attribute) and name in ("from_dict", "from_records"):
            maker = self.values.meaning(node.func.value)
        if module_of(maker) in OF_VALUES and getattr(function, "__name__", "") not in NO_VALUES:
            given = self._any([*node.args, *(keyword.value for keyword in node.keywords)])
            if given is None or not (given.source == ORDER and given.inside):
                return given
            if any(each.arg == "sort_keys" for each in node.keywords):
                return None
            return replace(given, inside=False, parts=(), keyed=module_of(maker) == "pandas")
        if not isinstance(node.func, ast.Attribute):
            return self._of_unknown(function, node)
        if node.func.attr == "keys" and (held := self.value(node.func.value)) is not None and held.keyed:
            return replace(held, keyed=False)
        if node.func.attr in NO_VALUES and not (node.func.attr == "index" and node.args):
            return None
        kind = self.values.meaning(node.func.value)
        if node.func.attr in NOW and isinstance(kind, type) and _is_date(kind):
            return ChanceOrigin(CLOCK, fine=False, clock=True)
        if node.func.attr.endswith("fromtimestamp") and isinstance(kind, type) and _is_date(kind):
            return self._any(node.args)
        if node.func.attr == "pop" and not node.args and self.values.is_set_of_text(node.func.value, least=1):
            return ChanceOrigin(ORDER)
        if node.func.attr == "join" and node.args and self.values.is_set_of_text(node.args[0]):
            return ChanceOrigin(ORDER)
        if self._is_device(node.func):
            return ChanceOrigin(DEVICE)
        if self.values.builtin(node.func.value) is not None and node.args:  # int.from_bytes(x), str.upper(x)
            return self._any(node.args)
        if node.func.attr in ("join", "format"):
            if node.func.attr == "join" and node.args and self.values.is_unknown_set(node.args[0]):
                return ChanceOrigin(ORDER)
            return self._any(node.args) or self.value(node.func.value)
        return self._method(node.func, node)

    def _of_clock(self, found: ChanceOrigin, function: Any, node: ast.Call) -> ChanceOrigin | None:
        """What a function tells that is another in each run. One that writes a time tells that of now where
        it is given none; of those that it is given, the time of a file counts."""
        least = 1 if getattr(function, "__name__", "") == "strftime" else 0
        if found.source != TIME or len(node.args) <= least:
            return found
        given = self._any(node.args)
        return given if given is not None and given.source == FILE_TIME else None

    def _of_unknown(self, function: Any, node: ast.Call) -> ChanceOrigin | None:
        """What was drawn, where it is given to a method of a builtin class, or to a function that only the
        cell knows: an item, or the variable of a comprehension."""
        if function is not None and type(function) is not MethodDescriptorType:
            return None
        given = self._any(node.args)
        return given if given is not None and _is_drawn(given) else None

    def _method(self, function: ast.Attribute, node: ast.Call) -> ChanceOrigin | None:
        """Of what a method gives that is not known otherwise."""
        if function.attr == "__hash__" and not node.args:
            return self._hash(function.value)
        whole = self.value(function.value)
        if whole is None:
            given = self._any([*node.args, *(each.value for each in node.keywords)])
            maps = function.attr in TAKING_IN and given is not None and not given.inside
            return given if maps and _module_of_value(self._root(function.value)) == "pandas" else None
        if function.attr in GIVING_NONE and type(self.values.meaning(function.value)) in (list, set, dict):
            return None
        in_any_order = whole.source == ORDER and function.attr in OF_ANY_ORDER
        if in_any_order and (not whole.keyed or self._is_series(function.value)):
            return None
        if whole.keyed and function.attr in ("sort_index", "get", "xs"):
            return None
        if whole.index and function.attr != "items":
            return whole if function.attr in WITH_INDEX else None
        named = {each.arg: each.value for each in node.keywords}
        if (
            whole.source == ORDER
            and function.attr == "sort_values"
            and not (node.args or {"by", "key"} & {*named})
        ):
            ignored = named.get("ignore_index")
            return None if isinstance(ignored, ast.Constant) and ignored.value else replace(whole, index=True)
        return replace(whole, parts=())

    def _root(self, node: ast.expr) -> Any:
        """The variable that an expression begins with."""
        while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
            node = node.func if isinstance(node, ast.Call) else node.value
        return self.namespace.get(node.id) if isinstance(node, ast.Name) else None

    def _own(self, node: ast.expr) -> tuple[FunctionType, Definition, bool] | None:
        """The notebook's function that is called, its source, and whether it is a method of what it is of."""
        function, method = self.values.meaning(node), False
        if isinstance(node, ast.Attribute) and function is None:
            holder = node.value
            made = self.values.meaning(holder.func if isinstance(holder, ast.Call) else holder)
            kind = made if isinstance(made, type) else type(made)
            if is_own(kind):
                function = inspect.getattr_static(kind, node.attr, None)
                method = isinstance(holder, ast.Call) or made is not kind
        if isinstance(function, staticmethod | classmethod):
            function, method = function.__func__, isinstance(function, classmethod)
        if type(function) is functools._lru_cache_wrapper:
            function = function.__wrapped__
        if type(function) is not FunctionType:
            return None
        definition = self.orders.definitions.of(function)
        return None if definition is None else (function, definition, method)

    def _returned(
        self, function: FunctionType, definition: Definition, method: bool, node: ast.Call
    ) -> ChanceOrigin | None:
        """Where what a function of the notebook returns comes from: computed, or else followed in its source,
        with what it is given."""
        order = self.orders.order(node)
        if order in (Order.KEYS, Order.VALUE):
            return self._of_order(node)
        if len(self.callers) >= _DEPTH:
            return None
        values = dict.fromkeys(function.__code__.co_varnames) | held_by(function)
        if method and isinstance(node.func, ast.Attribute) and definition.args.args:
            values[definition.args.args[0].arg] = self.values.meaning(node.func.value)
        own: dict[str, ChanceOrigin] = {}
        for name, value in _given(definition, node, first=int(method)):
            values[name] = self._value_of(value)
            source = self.value(value)
            if source is not None and not (order is not None and source.source in (ORDER, ADDRESS)):
                own[name] = source
        orders = SetOrders(self.orders.definitions)
        callers = (*self.callers, definition)
        inner = _Cell(own, {**self.namespace, **values}, self.drawn, orders, callers)
        inner.labels = self.labels
        if isinstance(definition, ast.Lambda):
            return inner.value(definition.body)
        inner.go(definition.body)
        found = inner.found if order is None else [x for x in inner.found if x not in (ORDER, ADDRESS)]
        self.found += found
        return next(iter(inner.returned), None)

    def _value_of(self, node: ast.expr) -> Any:
        """What an expression gives, as far as that is known; of a set, in one of the orders."""
        try:
            return self.orders.value(node)
        except UnknownValue:
            return {"a", "b"} if self.values.is_set_of_text(node) else self.values.meaning(node)

    def _is_device(self, function: ast.Attribute) -> bool:
        """Whether a method reads a file that gives random numbers."""
        holder = function.value
        if isinstance(holder, ast.Attribute) and is_own(type(self.values.meaning(holder.value))):
            file = object.__getattribute__(self.values.meaning(holder.value), "__dict__").get(holder.attr)
        else:
            file = self.values.meaning(holder)
        if type(file).__module__ != "_io" or not function.attr.startswith("read"):
            return False
        return getattr(file, "name", None) in DEVICES

    def _opens_device(self, node: ast.Call) -> bool:
        """Whether a call opens a file that gives random numbers."""
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name not in OPENING:
            return False
        if any(isinstance(each, ast.Constant) and each.value in DEVICES for each in ast.walk(node)):
            return True
        holder = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        for each in (*holder, *node.args, *(keyword.value for keyword in node.keywords)):
            told, source = self._value_of(each), self.value(each)
            if isinstance(told, str | PurePath) and str(told) in DEVICES:
                return True
            if source is not None and source.source == DEVICE:
                return True
        return False

    def _of_builtin(self, name: str, node: ast.Call) -> ChanceOrigin | None:
        if name == "id":
            return ChanceOrigin(ADDRESS, fine=False)
        given = node.args[0] if node.args else None
        if given is None:
            return None
        if name == "hash":
            return self._hash(given)
        if name in ORDERED and self.values.is_set_of_text(_looped(given)):
            return ChanceOrigin(ORDER)
        kept = self.value(given) if name in ORDERED else None
        if kept is not None and kept.source == ORDER and kept.inside:
            return ChanceOrigin(ORDER)
        if name in KEEPING_DRAWN:
            kept = self._any(node.args)
            if kept is not None and _is_drawn(kept):
                return kept
        if name in OF_ITEMS:
            return ChanceOrigin(ORDER) if self.orders.order(node) is Order.VALUE else None
        if name in KEEPING:
            return self._any(node.args) or (self._of_order(node) if name in TEXTS else None)
        return None

    def _of_order(self, node: ast.expr) -> ChanceOrigin | None:
        """Where it comes from, if it can be computed and depends on the order of sets or on addresses."""
        order = self.orders.order(node)
        if order not in (Order.KEYS, Order.VALUE):
            return None
        return ChanceOrigin(self.orders.reason, inside=order is Order.KEYS)

    def _hash(self, node: ast.expr) -> ChanceOrigin | None:
        if self.values.has_address(node):
            return ChanceOrigin(ADDRESS, fine=False)
        try:
            varies = hash_varies(self.orders.value(node))
        except UnknownValue:
            varies = self.values.is_text(node)
        return ChanceOrigin(HASH) if varies else None

    def is_fit(self, node: ast.Call) -> bool:
        """Whether a call fits an estimator of scikit-learn, a variable or one made there, and returns it."""
        if not (isinstance(node.func, ast.Attribute) and node.func.attr == "fit"):
            return False
        model = node.func.value
        kind = (
            self.values.meaning(model.func)
            if isinstance(model, ast.Call)
            else type(self.values.meaning(model))
        )
        return is_estimator(kind)


def _yields(statement: ast.stmt) -> TypeGuard[ast.Expr]:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Yield | ast.YieldFrom)


def _given(definition: Definition, node: ast.Call, first: int) -> Iterator[tuple[str, ast.expr]]:
    """The parameters of a function with what a call gives them. first: parameters that it does not give."""
    arguments = definition.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)][first:]
    yield from zip(names, node.args, strict=False)
    rest = node.args[len(names) :]
    if arguments.vararg is not None and rest:
        yield arguments.vararg.arg, ast.Tuple(rest, ast.Load())
    for each in node.keywords:
        if each.arg in (*names, *(one.arg for one in arguments.kwonlyargs)) and each.arg is not None:
            yield each.arg, each.value
        elif arguments.kwarg is not None:
            yield arguments.kwarg.arg, each.value


def _grown(body: list[ast.stmt]) -> Iterator[str]:
    """Lists that statements put something into, one after the other."""
    for node in (each for statement in body for each in ast.walk(statement)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            put = node.args and not isinstance(node.args[-1], ast.Constant)
            if put and node.func.attr in GROWING_IN_ORDER and isinstance(node.func.value, ast.Name):
                yield node.func.value.id


def _module_of_value(value: Any) -> str:
    """The package of the class of a value."""
    return type(value).__module__.partition(".")[0]


def _part(whole: ChanceOrigin, key: object) -> ChanceOrigin | None:
    """Where an item comes from of what is another in each run in part."""
    found = dict(whole.parts).get(key)
    return None if found is None else replace(found, source=whole.source)


def _is_drawn(origin: ChanceOrigin) -> bool:
    return origin.source.is_drawn


def _are_apart(node: ast.Compare) -> bool:
    """Whether a comparison is of two values that have no variable in common."""
    left, right = (
        {name.id for name in ast.walk(side) if isinstance(name, ast.Name)}
        for side in (node.left, node.comparators[0])
    )
    return not left & right


def shows_value(code: str) -> bool:
    """Whether a cell shows the value of its last expression."""
    return _SHOWS_NO_VALUE.search(code.rstrip()) is None


def _is_date(kind: type) -> bool:
    return any(each.__module__ == "datetime" for each in type.mro(kind) if each is not object)


def _looped(node: ast.expr) -> ast.expr:
    """What a loop goes through, below `enumerate` and `iter`."""
    while (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("enumerate", "iter")
        and node.args
    ):
        node = node.args[0]
    return node


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The statements inside of one."""
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, [])
    for handler in getattr(statement, "handlers", ()):
        yield handler.body
