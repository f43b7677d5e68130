"""Checks an answer of CP-Bench by the model of its reference."""

import ast
import contextlib
import io
import json


def is_equal(claimed, symbol, model, where):
    """Add that what the answer claims is what the model calls so."""
    import numpy
    from cpmpy.expressions.core import Expression
    if isinstance(symbol, numpy.ndarray):
        symbol = symbol.tolist()
    if isinstance(symbol, dict):
        assert isinstance(claimed, dict) and claimed.keys() == symbol.keys(), f"{where}: other names"
        for key in symbol:
            is_equal(claimed[key], symbol[key], model, f"{where}.{key}")
    elif isinstance(symbol, (list, tuple)):
        assert isinstance(claimed, list) and len(claimed) == len(symbol), f"{where}: another number of items"
        for number, each in enumerate(symbol):
            is_equal(claimed[number], each, model, f"{where}[{number}]")
    elif isinstance(symbol, Expression):
        assert isinstance(claimed, (int, float)), f"{where}: no number"
        assert claimed == int(claimed), f"{where}: no whole number"
        model += symbol == (bool(claimed) if symbol.is_bool() and claimed in (0, 1) else int(claimed))
    else:
        assert claimed == symbol, f"{where}: another value"

def modelled(reference):
    """The model of a reference, and what it would print, with variables in the place of values."""
    import cpmpy
    from cpmpy.expressions.core import Expression
    from cpmpy.expressions.variables import NDVarArray
    models, printed, kept = [], [], []
    def instead(owner, name, new):
        kept.append((owner, name, owner.__dict__[name]))
        setattr(owner, name, new)
    def solve(model, *args, **kwargs):
        models.append(model)
        return True
    for owner in [Expression, NDVarArray, *every(Expression)]:
        if "value" in owner.__dict__:
            instead(owner, "value", lambda self: self)
    instead(cpmpy.Model, "solve", solve)
    instead(cpmpy.Model, "objective_value", lambda model: model.objective_)
    dumps = json.dumps
    json.dumps = lambda value, *args, **kwargs: printed.append(value) or ""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            names = {"__name__": "__main__", "plain_int": plain_int}
            tree = ast.parse(reference)
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "int":
                    node.func.id = "plain_int"
            exec(compile(tree, "reference.py", "exec"), names)
    finally:
        json.dumps = dumps
        for owner, name, old in kept:
            setattr(owner, name, old)
    (model,), (solution,) = models, printed
    return model, solution

def plain_int(value=0, *base):
    """int, that leaves what stands for a variable's value as it is."""
    from cpmpy.expressions.core import Expression
    return value if isinstance(value, Expression) else int(value, *base)

def every(kind):
    for each in kind.__subclasses__():
        yield each
        yield from every(each)

def check(reference, printed):
    claimed = json.loads(printed)
    model, solution = modelled(reference)
    objective = model.objective_
    best = None
    if objective is not None:
        assert model.solve(), "the reference has no solution"
        best = model.objective_value()
    is_equal(claimed, solution, model, "the answer")
    assert model.solve(), "no solution"
    assert best is None or model.objective_value() == best, "not the best solution"
