"""Estimators of scikit-learn that learn by chance where no seed is set.

In the kernel's process. Nothing is called."""

import ast
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

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
