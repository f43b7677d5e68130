"""Objects for trying methods. A call of their class makes them, and its arguments are tried as well.

Not covered: objects that only a function makes, and classes whose ``__init__`` is in another module.
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
    """The way to make an object."""

    name: str
    """Qualified name of its class."""
    node: Definition | None
    """The ``__init__`` without its first parameter; None if the class takes no arguments."""


def is_method(function: Callable_) -> bool:
    """Whether a function takes an object as its first argument."""
    decorators = {mark.id for mark in function.node.decorator_list if isinstance(mark, ast.Name)}
    return "." in function.name and not decorators & {"staticmethod", "classmethod"}


def receiver_of(tree: ast.Module, name: str) -> Constructor | None:
    """The constructor of a class; None if it or its ``__init__`` is not in the file, or it has a
    ``__new__``."""
    statement: ast.stmt | None = None
    body = tree.body
    for part in name.split("."):
        statement = defined(body).get(part)
        if not isinstance(statement, ast.ClassDef):
            return None
        body = statement.body
    assert isinstance(statement, ast.ClassDef)
    for ancestor in _with_bases(tree, statement, 0):
        if ancestor is None or "__new__" in (methods := defined(ancestor.body)):
            return None
        constructor = methods.get("__init__")
        if isinstance(constructor, ast.FunctionDef):
            return Constructor(name, without_object(constructor))
    return Constructor(name, None)


def _with_bases(tree: ast.Module, node: ast.ClassDef, depth: int) -> Iterator[ast.ClassDef | None]:
    """A class and its bases, approximately in the order of method lookup; None for a base outside of the
    file."""
    yield node
    if depth > 10:
        yield None
        return
    top = defined(tree.body)
    for base in node.bases:
        name = base.id if isinstance(base, ast.Name) else None
        base_class = top.get(name) if name else None
        if isinstance(base_class, ast.ClassDef) and base_class is not node:
            yield from _with_bases(tree, base_class, depth + 1)
        elif name not in _EMPTY or base_class is not None:
            yield None


def made_by(arguments: str) -> str:
    """The call that makes a method's object: the first of the method's arguments."""
    call = ast.parse(f"f{arguments}", mode="eval").body
    assert isinstance(call, ast.Call)
    return ast.unparse(call.args[0])


def without_object(node: Definition) -> Definition:
    """A method without its first parameter."""
    method = copy.copy(node)
    method.args = copy.copy(node.args)
    if node.args.posonlyargs:
        method.args.posonlyargs = node.args.posonlyargs[1:]
    else:
        method.args.args = node.args.args[1:]
    return method
