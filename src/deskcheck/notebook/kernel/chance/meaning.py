"""What a name in a cell means, and what a value is, when the cell has ended; and which models of torch and
estimators of scikit-learn it may be that learn by chance where no seed is set.

In the kernel's process. Read from the user's variables; nothing is called."""

import ast
import builtins
import sys
from collections.abc import Iterable, Mapping
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from deskcheck.notebook.kernel.chance.harmless import hash_varies
from deskcheck.notebook.kernel.chance.orders import SetOrders
from deskcheck.notebook.kernel.chance.own import UnknownValue


def meaning(
    node: ast.expr,
    namespace: Mapping[str, Any],
    *,
    of: tuple[type, ...] = (ModuleType,),
    imported: bool = False,
) -> Any:
    """What a name, or a name in an object of one of the classes `of`, is bound to; None: that is not known.
    imported: a function may have imported a module under its own name."""
    if isinstance(node, ast.Name):
        return namespace.get(node.id)
    if isinstance(node, ast.Attribute):
        holder = meaning(node.value, namespace, of=of, imported=imported)
        if holder is None and imported and isinstance(node.value, ast.Name):
            holder = sys.modules.get(node.value.id)
        if isinstance(holder, of):
            return vars(holder).get(node.attr)
    return None


def builtin_name(node: ast.expr, namespace: Mapping[str, Any]) -> str | None:
    """The name of a builtin that the user has not bound otherwise."""
    if not isinstance(node, ast.Name):
        return None
    bound = namespace.get(node.id)
    there = hasattr(builtins, node.id)
    return node.id if there and (bound is None or bound is getattr(builtins, node.id)) else None


class Meanings:
    """Of the expressions of one cell. orders: what knows its sets."""

    def __init__(self, namespace: Mapping[str, Any], orders: SetOrders) -> None:
        self.namespace = namespace
        self.orders = orders

    def builtin(self, node: ast.expr) -> str | None:
        """As `builtin_name`."""
        return builtin_name(node, self.namespace)

    def meaning(self, node: ast.expr) -> Any:
        """As the function, inside of functions too."""
        return meaning(node, self.namespace, imported=True)

    def is_text(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str | bytes) and bool(node.value)
        if isinstance(node, ast.Tuple):
            return any(map(self.is_text, node.elts))
        value = self.namespace.get(node.id) if isinstance(node, ast.Name) else None
        return type(value) in (str, bytes) and bool(value)

    def is_unknown_set(self, node: ast.expr) -> bool:
        """Whether a set is made there of which the items are not known."""
        if not (isinstance(node, ast.Call) and self.builtin(node.func) in ("set", "frozenset") and node.args):
            return False
        try:
            self.orders.value(node)
        except UnknownValue:
            return True
        return False

    def has_address(self, node: ast.expr) -> bool:
        """Whether the hash of a value is made of an address."""
        if isinstance(node, ast.Lambda):
            return True
        if isinstance(node, ast.Call):
            made: Any = object if self.builtin(node.func) == "object" else self.meaning(node.func)
            return isinstance(made, type) and _has_own_address(made)
        if self.builtin(node) is not None:
            return True
        value = self.meaning(node)
        if isinstance(value, FunctionType | BuiltinFunctionType | MethodType):
            return True
        kind: Any = type(value)
        return value is not None and _has_own_address(kind)

    def is_set_of_text(self, node: ast.expr | None, least: int = 2) -> bool:
        """Whether it is a set with several texts, whose order depends on their hashes."""
        if node is None:
            return False
        try:
            found = self.orders.value(node)
        except UnknownValue:
            pass
        else:
            varies = type(found) in (set, frozenset) and any(map(hash_varies, found))
            return varies and len(found) >= least
        if isinstance(node, ast.Set):
            return len(_texts(node)) >= least
        if isinstance(node, ast.Name):
            value = self.namespace.get(node.id)
            return type(value) in (set, frozenset) and _counts(value) >= least
        if (
            not isinstance(node, ast.Call)
            or self.builtin(node.func) not in ("set", "frozenset")
            or not node.args
        ):
            return False
        given = node.args[0]
        if isinstance(given, ast.Constant):
            return isinstance(given.value, str) and len(set(given.value)) >= least
        if isinstance(given, ast.Name):
            value = self.namespace.get(given.id)
            return type(value) in (list, tuple, set, frozenset, dict, str) and _counts(value) >= least
        return isinstance(given, ast.List | ast.Tuple | ast.Set) and len(_texts(given)) >= least


def _has_own_address(kind: Any) -> bool:
    """Whether the hash of objects of a class is made of their address."""
    return kind.__hash__ is object.__hash__


def _texts(node: ast.Set | ast.List | ast.Tuple) -> set[Any]:
    return {
        each.value
        for each in node.elts
        if isinstance(each, ast.Constant) and type(each.value) in (str, bytes)
    }


def _counts(value: Any) -> int:
    """How many texts there are in it, up to two."""
    found: set[Any] = set()
    for each in value:
        if type(each) in (str, bytes):
            found.add(each)
            if len(found) == 2:
                break
    return len(found)


def is_estimator(kind: Any) -> bool:
    return isinstance(kind, type) and kind.__module__.startswith("sklearn.") and hasattr(kind, "get_params")


def has_weights(value: Any) -> bool | None:
    """Whether a model of torch has weights; None: it is no model."""
    kind = getattr(sys.modules.get("torch.nn"), "Module", None)
    todo, there = [value], None
    while todo:
        each = todo.pop()
        if kind is None or kind not in type.mro(type(each)):
            continue
        there = False
        own = object.__getattribute__(each, "__dict__")
        if any(weight is not None for weight in own.get("_parameters", {}).values()):
            return True
        todo += own.get("_modules", {}).values()
    return there


def learns_nothing(value: Any) -> bool:
    """Whether it is a layer of torch itself, not of the notebook, without weights or anything that it keeps:
    what it computes depends on what it is given, and in training on what it draws then."""
    if not type(value).__module__.startswith("torch.nn.") or has_weights(value) is not False:
        return False
    own = object.__getattribute__(value, "__dict__")
    return not any(own.get(each) for each in ("_parameters", "_buffers", "_modules", "_forward_hooks"))


def constant_weights(model: Any, name: str) -> bool:
    """Whether a parameter of a model of torch has the same number everywhere, so that it was not drawn."""
    if not has_weights(model):
        return False
    weights = object.__getattribute__(model, "__dict__")["_parameters"].get(name)
    if weights is None or weights.numel() < 2:
        return False
    numbers = weights.detach()
    return bool((numbers == numbers.flatten()[0]).all())


def is_function(value: Any) -> bool:
    """Whether it is a function or class, and nothing else that can be called, as a partial function is."""
    functions = FunctionType, BuiltinFunctionType, MethodType, type
    return isinstance(value, functions) or type(value).__module__.startswith("numpy")


def module_of(function: Any) -> str:
    """The package of a function or class; empty for what is none."""
    module = getattr(function, "__module__", None) if callable(function) else None
    return module.partition(".")[0] if isinstance(module, str) else ""


def has_models(kind: type) -> bool:
    """Whether it is a class of models of torch."""
    of_torch = getattr(sys.modules.get("torch.nn"), "Module", None)
    return of_torch is not None and of_torch in type.mro(kind)


def is_model(function: Any) -> bool:
    """Whether it is a class of models of torch or estimators of scikit-learn."""
    if not isinstance(function, type):
        return False
    is_estimator = function.__module__.startswith("sklearn.") and hasattr(function, "get_params")
    return is_estimator or has_models(function)


_RANDOM = frozenset(
    {"ensemble", "tree", "neural_network", "cluster", "mixture", "manifold", "random_projection", "dummy"}
)
"""Modules of scikit-learn with such estimators."""


def is_random_estimator(kind: type) -> bool:
    """Whether a class of scikit-learn learns by chance where no seed is set. Others draw, too, and get a
    result that does not depend on it."""
    package, _, rest = kind.__module__.partition(".")
    return package == "sklearn" and (rest.partition(".")[0] in _RANDOM or kind.__name__.startswith("SGD"))


def learns_by_chance(value: Any) -> bool:
    """Whether it is an estimator of scikit-learn that learns by what it draws from the generator for all of
    numpy, with its parameters as they are."""
    if not is_random_estimator(type(value)):
        return False
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:  # no estimator, but a part of one that is written in C
        return False
    if own.get("random_state", "none") is not None:
        return False
    return not _decides_nothing(type(value), own, own.get("n_features_in_"))


def learns_the_same(call: ast.Call, given: ast.expr | None, namespace: Mapping[str, Any]) -> bool:
    """Whether an estimator that a call makes learns the same whatever it draws, though it is of a class that
    learns by chance. given: what it is fitted to, if that is known."""
    kind = _class(call.func, namespace)
    named = {each.arg: each.value for each in call.keywords}
    if not isinstance(kind, type) or not is_random_estimator(kind) or call.args or None in named:
        return False
    if not all(isinstance(each, ast.Constant) for each in named.values()):
        return False
    parameters = {str(name): each.value for name, each in named.items() if isinstance(each, ast.Constant)}
    return _decides_nothing(kind, parameters, _features(given, namespace))


def made_to_learn_the_same(runs: Iterable[ast.AST], namespace: Mapping[str, Any]) -> set[int]:
    """`id` of the names of classes in what a cell runs, where an estimator is made that learns the same
    whatever it draws."""
    found = set()
    for node in runs:
        if isinstance(node, ast.Call) and learns_the_same(node, None, namespace):
            found.add(id(node.func))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            made = node.func.value
            if node.func.attr == "fit" and isinstance(made, ast.Call):
                found |= {id(made.func)} if learns_the_same(made, node.args[0], namespace) else set()
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            made, target = node.value.func, node.targets[0]
            value = namespace.get(target.id) if isinstance(target, ast.Name) else None
            if (
                _class(made, namespace) is type(value)
                and is_random_estimator(type(value))
                and not learns_by_chance(value)
            ):
                found.add(id(made))
    return found


def _decides_nothing(kind: type, parameters: Mapping[str, Any], features: int | None) -> bool:
    """Whether the draws of an estimator with these parameters decide nothing: nothing is shuffled; a tree has
    one feature to choose from. Of a parameter that is not there the default holds."""
    if kind.__name__.startswith("SGD"):
        return parameters.get("shuffle", True) is False and parameters.get("early_stopping", False) is False
    if kind.__name__ in ("DecisionTreeClassifier", "DecisionTreeRegressor"):
        best = parameters.get("splitter", "best") == "best" and parameters.get("max_features") is None
        return best and features == 1
    return False


def _class(node: ast.expr, namespace: Mapping[str, Any]) -> Any:
    """What the name of a class is bound to, of a module or not."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        module = namespace.get(node.value.id)
        return vars(module).get(node.attr) if isinstance(module, ModuleType) else None
    return namespace.get(node.id) if isinstance(node, ast.Name) else None


def _features(given: ast.expr | None, namespace: Mapping[str, Any]) -> int | None:
    """How many columns it has, if it is written out or a variable."""
    if isinstance(given, ast.Name):
        shape = getattr(namespace.get(given.id), "shape", ())
        return shape[1] if isinstance(shape, tuple) and len(shape) == 2 else None
    if isinstance(given, ast.List) and given.elts and isinstance(first := given.elts[0], ast.List):
        return len(first.elts)
    return None
