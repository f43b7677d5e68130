"""Facts about objects of libraries: estimators (fitted, parameters), graphs (size), torch's networks
(layers).

No code of the user runs: the object's dict is read, and methods of a library are called only on objects of
that library's classes.
"""

import sys
import types
from collections.abc import Mapping
from typing import Any

from deskcheck.notebook.state.imports import is_library, own_dict, public_name
from deskcheck.notebook.state.signatures import Show, annotation, called, defaults_of
from deskcheck.notebook.state.truncate import with_rest
from deskcheck.tracer.contents.introspection import bases_of, module_of, names_of

_DEEPEST = 3
"""Maximum depth of estimators and lists inside one another."""
_STEPS = 12
"""Maximum number of steps of a pipeline."""
_LAYERS = 50
"""Maximum number of levels of torch's modules."""
_NODES = 100_000
"""Maximum number of nodes of a graph whose edges are counted."""
_ATOMS = (bool, int, float, complex, str, bytes, type(None))


def live_facts(obj: Any, type_name: str, show: Show) -> dict[str, Any]:
    """Facts that only the object itself shows, as JSON, for `describe.describe`. type_name: the recorded
    type. show: returns the text of a named default or parameter."""
    facts = called(obj, show)
    if facts is not None:
        return facts
    alias = annotation(obj) if module_of(type(obj)) in ("typing", "types") else None
    if alias is not None:
        return {"type": type_name, "alias": alias}
    # As users write it: ``sklearn.svm.SVC`` for ``sklearn.svm._classes.SVC``, if both are one class.
    public = public_name(type(obj)) if "." in type_name else type_name
    return {"type": public, **(held_by(obj, show) or {})}


def held_by(obj: Any, show: Show) -> dict[str, Any] | None:
    """Facts about an estimator, graph or network; None for other objects."""
    return _estimator(obj, show) or _graph(obj) or _network(obj)


def _bases(obj: Any) -> tuple[type, ...]:
    """The classes of an object; none of a class."""
    bases = bases_of(type(obj))
    return () if any(base is type for base in bases) else bases


# -- estimators ------------------------------------------------------------------------------------


def _is_estimator(obj: Any) -> bool:
    return own_dict(obj) is not None and any("get_params" in names_of(base) for base in _bases(obj))


def _estimator(obj: Any, show: Show) -> dict[str, Any] | None:
    if not _is_estimator(obj):
        return None
    fitted = is_fitted(obj)
    facts: dict[str, Any] = {} if fitted is None else {"fitted": fitted}
    return facts | {"parameters": _changed(obj, show, 0)}


def is_fitted(obj: Any) -> bool | None:
    """Whether an estimator has attributes that end in an underscore, as scikit-learn's `check_is_fitted`
    asks; of a pipeline, its last step. None if it needs no fit, and for a class of the user's without such
    attributes."""
    attributes = own_dict(obj) or {}
    if any(type(name) is str and name.endswith("_") and not name.startswith("__") for name in attributes):
        return True
    steps = attributes.get("steps")
    if type(steps) is list and steps and type(steps[-1]) is tuple and _is_estimator(steps[-1][-1]):
        return is_fitted(steps[-1][-1])
    if module_of(type(obj)) == "__main__" or not is_library(module_of(type(obj)) or ""):
        return None
    return None if _needs_no_fit(obj, attributes) else False


def _needs_no_fit(obj: Any, attributes: Mapping[str, Any]) -> bool:
    """Whether scikit-learn reports it as fitted. It is not called if it might call objects of the user."""
    if (module_of(type(obj)) or "").partition(".")[0] != "sklearn" or not all(
        map(_holds_no_object, attributes.values())
    ):
        return False
    utils = sys.modules.get("sklearn.utils")
    get_tags = None if utils is None else vars(utils).get("get_tags")  # since 1.6
    try:
        return get_tags is not None and not get_tags(obj).requires_fit
    except AttributeError:  # of one that asks another, which it was not given
        return False


def _holds_no_object(value: Any, depth: int = 0) -> bool:
    if type(value) in (tuple, list):
        return depth < _DEEPEST and all(_holds_no_object(item, depth + 1) for item in value)
    return type(value) in (*_ATOMS, types.FunctionType, type)


def _changed(obj: Any, show: Show, depth: int) -> dict[str, str]:
    """Parameters that differ from the defaults of the class, as text."""
    attributes = own_dict(obj) or {}
    texts: dict[str, str] = {}
    for name, default in _defaults(type(obj)).items():
        if name in attributes and not _same(attributes[name], default):
            texts[name] = _parameter(name, attributes[name], show, depth)
    return texts


def _defaults(cls: type) -> dict[str, Any]:
    """Parameter -> default, or `_NOTHING`, from `__init__`, as scikit-learn reads it."""
    for base in bases_of(cls):
        maker = names_of(base).get("__init__")
        wrapped = None if type(maker) is not types.FunctionType else dict.get(maker.__dict__, "__wrapped__")
        maker = wrapped if type(wrapped) is types.FunctionType else maker
        if type(maker) is types.FunctionType:
            code = maker.__code__
            names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
            return dict.fromkeys(names, _NOTHING) | defaults_of(maker)
        if maker is not None:
            break
    return {}


_NOTHING: Any = object()


def _same(value: Any, default: Any, depth: int = 0) -> bool:
    if value is default:
        return True
    if type(value) is type(default) and type(value) in _ATOMS:
        return bool(value == default) or (value != value and default != default)
    plain = type(value) in (tuple, list) and type(value) is type(default) and depth < _DEEPEST
    return (
        plain
        and len(value) == len(default)
        and all(_same(item, second, depth + 1) for item, second in zip(value, default, strict=True))
    )


def _parameter(name: str, value: Any, show: Show, depth: int) -> str:
    """An estimator as its call. A list of estimators, such as the steps of a pipeline, item by item."""
    if depth < _DEEPEST and _is_estimator(value):
        arguments = ", ".join(f"{n}={text}" for n, text in _changed(value, show, depth + 1).items())
        return f"{type.__dict__['__name__'].__get__(type(value))}({arguments})"
    if depth < _DEEPEST and type(value) in (list, tuple) and _has_estimator(value):
        parts = [_parameter(name, item, show, depth + 1) for item in value[:_STEPS]]
        inside = ", ".join(with_rest(parts, len(value)))
        return f"[{inside}]" if type(value) is list else f"({inside}{',' * (len(value) == 1)})"
    return show(name, value)


def _has_estimator(value: Any) -> bool:
    return any(
        _is_estimator(item) or (type(item) is tuple and any(map(_is_estimator, item))) for item in value
    )


# -- graphs ----------------------------------------------------------------------------------------


def _graph(obj: Any) -> dict[str, Any] | None:
    bases = _bases(obj)
    if any(module_of(base) == "networkx.classes.graph" for base in bases):
        return _networkx(obj, {_name(base) for base in bases})
    return None


def _name(cls: type) -> str:
    return str(type.__dict__["__name__"].__get__(cls))


def _networkx(graph: Any, classes: set[str]) -> dict[str, Any] | None:
    """Facts about a graph, from its dicts of nodes and neighbours: a subclass may define any method."""
    attributes = own_dict(graph) or {}
    nodes, neighbours = attributes.get("_node"), attributes.get("_adj")
    if type(nodes) is not dict or type(neighbours) is not dict:
        return None
    directed = "DiGraph" in classes
    facts: dict[str, Any] = {"nodes": len(nodes), "directed": directed}
    if len(nodes) > _NODES:
        return facts
    ends = 0
    for node, others in neighbours.items():
        if type(others) is not dict:
            return facts
        many = "MultiGraph" in classes
        ends += sum(map(len, others.values())) if many else len(others)
        if not directed and (loop := _loop(node, others)) is not None:  # which is at both its ends
            ends += len(loop) if many else 1
    facts["edges"] = ends if directed else ends // 2
    return facts


def _loop(node: Any, others: dict[Any, Any]) -> Any:
    """The edge from a node to itself, without comparing objects of the user."""
    if _plain(node):
        return others.get(node)
    return next((edge for neighbour, edge in others.items() if neighbour is node), None)


def _plain(node: Any) -> bool:
    return type(node) in _ATOMS or (type(node) is tuple and all(map(_plain, node)))


# -- networks of torch's ---------------------------------------------------------------------------


def _network(obj: Any) -> dict[str, Any] | None:
    """The modules and the number of weights of a network, from torch's dicts."""
    if not _is_network(obj):
        return None
    attributes = own_dict(obj) or {}
    facts: dict[str, Any] = {"weights": _weights(obj, set(), 0)}
    inner = attributes.get("_modules")
    if type(inner) is dict and inner:
        layers = [f"{name}: {_name(type(module))}" for name, module in inner.items() if type(name) is str]
        facts["layers"] = layers
    if type(attributes.get("training")) is bool:
        facts["mode"] = "training" if attributes["training"] else "evaluation"
    return facts


def _is_network(obj: Any) -> bool:
    return any(
        module_of(base) == "torch.nn.modules.module" and _name(base) == "Module" for base in _bases(obj)
    )


def _weights(network: Any, counted: set[int], depth: int) -> int:
    """Numbers in all parameters, each tensor once. A lazy one without a shape has none."""
    attributes = own_dict(network) or {}
    total = 0
    for parameter in (attributes.get("_parameters") or {}).values():
        if parameter is not None and id(parameter) not in counted:
            counted.add(id(parameter))
            if _name(type(parameter)) in ("Parameter", "Tensor"):
                total += parameter.numel()
    for module in (attributes.get("_modules") or {}).values():
        if depth < _LAYERS and _is_network(module) and id(module) not in counted:
            counted.add(id(module))
            total += _weights(module, counted, depth + 1)
    return total
