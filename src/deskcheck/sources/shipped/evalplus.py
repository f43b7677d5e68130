"""Compares an answer with the reference. told: the task, which is set before."""

import copy
import math

def close(given, expected, atol):
    """As numpy.allclose(rtol=1e-07), for numbers and lists of them of one shape."""
    if isinstance(expected, (list, tuple)):
        return len(given) == len(expected) and all(map(lambda a, b: close(a, b, atol), given, expected))
    return given == expected or abs(given - expected) <= atol + 1e-07 * abs(expected) < math.inf

def all_floats(value):
    return isinstance(value, float) or (
        isinstance(value, (list, tuple)) and bool(value) and all(isinstance(item, float) for item in value)
    )

def equal(args, given, expected, atol):
    if given == expected:
        return True
    if atol == 0 and all_floats(expected):
        atol = 1e-6
    return atol != 0 and type(given) is type(expected) and close(given, expected, atol)

def a_root(args, given, expected, atol):
    return abs(sum(c * math.pow(given, n) for n, c in enumerate(args[0]))) <= atol

def as_sets(args, given, expected, atol):
    return set(given) == set(expected)

def anything(args, given, expected, atol):
    return True

def or_zero(args, given, expected, atol):
    return given == 0 or equal(args, given, expected, atol)

def or_pyramid(args, given, expected, atol):
    base, height = args
    area = round(base**2 + 2 * base * math.sqrt((base / 2) ** 2 + height**2))
    return abs(given - area) <= atol or equal(args, given, expected, atol)

def or_padded(args, given, expected, atol):
    one, other = map(str, args)
    size = max(len(one), len(other))
    padded = zip(one.zfill(size), other.zfill(size))
    return given == sum(abs(int(a) - int(b)) for a, b in padded) or equal(args, given, expected, atol)

def whether_any(args, given, expected, atol):
    return given == (expected is not None)

scope = {"__name__": "reference"}
exec(compile(told["reference"], "reference.py", "exec"), scope)
inputs = shaped(told["inputs"]) if "shaped" in globals() else told["inputs"]

def check_input(number, function, rule):
    args = inputs[number]
    expected = scope[told["entry"]](*copy.deepcopy(args))
    given = function(*copy.deepcopy(args))
    assert rule(args, given, expected, told["atol"]), "another result"
