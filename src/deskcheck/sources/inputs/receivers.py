"""Objects for methods to be tried on: made by a call of their class, whose arguments are tried as well.

Not covered: objects that only a function makes, and classes whose ``__init__`` stands in another module.
"""

import ast
import builtins
import copy
from collections.abc import Iterator
from dataclasses import dataclass

from deskcheck.sources.inputs.callables import Callable_, Definition
from deskcheck.sources.text.python import defined

_EMPTY = {name for name in dir(builtins) if isinstance(getattr(builtins, name), type)} | {"ABC"}


@dataclass(frozen=True, slots=True)
class Constructor:
    """How an object is made. name: qualified, of its class. node: the ``__init__`` without its object; None
    where it is made without arguments."""

    name: str
    node: Definition | None


def is_method(one: Callable_) -> bool:
    """Whether a function that a call may name is given an object by position."""
    plain = {each.id for each in one.node.decorator_list if isinstance(each, ast.Name)}
    return "." in one.name and not plain & {"staticmethod", "classmethod"}


def receiver_of(tree: ast.Module, name: str) -> Constructor | None:
    """Of a class; None where it, or its ``__init__``, is not in the file, or it has a ``__new__``."""
    found: ast.stmt | None = None
    body = tree.body
    for part in name.split("."):
        found = defined(body).get(part)
        if not isinstance(found, ast.ClassDef):
            return None
        body = found.body
    assert isinstance(found, ast.ClassDef)
    for each in _with_bases(tree, found, 0):
        if each is None or "__new__" in (methods := defined(each.body)):
            return None
        made = methods.get("__init__")
        if isinstance(made, ast.FunctionDef):
            return Constructor(name, without_object(made))
    return Constructor(name, None)


def _with_bases(tree: ast.Module, node: ast.ClassDef, depth: int) -> Iterator[ast.ClassDef | None]:
    """A class and what it extends, in about the order in which a method is looked for; None for one that is
    not in the file."""
    yield node
    if depth > 10:
        yield None
        return
    top = defined(tree.body)
    for base in node.bases:
        name = base.id if isinstance(base, ast.Name) else None
        other = top.get(name) if name else None
        if isinstance(other, ast.ClassDef) and other is not node:
            yield from _with_bases(tree, other, depth + 1)
        elif name not in _EMPTY or other is not None:
            yield None


def made_by(arguments: str) -> str:
    """The first argument of a method that was called with these: the call that makes its object."""
    call = ast.parse(f"f{arguments}", mode="eval").body
    assert isinstance(call, ast.Call)
    return ast.unparse(call.args[0])


def without_object(node: Definition) -> Definition:
    """A method as if its first parameter were not there."""
    found = copy.copy(node)
    found.args = copy.copy(node.args)
    if node.args.posonlyargs:
        found.args.posonlyargs = node.args.posonlyargs[1:]
    else:
        found.args.args = node.args.args[1:]
    return found
