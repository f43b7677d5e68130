"""EvalPlus's HumanEval+ and MBPP+ (Liu et al. 2023, arXiv:2305.01210), from a user's copy of its releases.

A row has inputs and a reference, and no outputs: an answer is right where it gives what the reference gives,
for each input. The comparison is EvalPlus's own (its `evalplus/eval`, version 0.3.1): equal, or close where
floats are expected, and for some tasks a rule of their own. The reference runs beside the tests, out of the
answer's reach. Not covered: the limits on time that EvalPlus takes from the reference; ours are fixed.
"""

import json

from deskcheck.recording import InputError
from deskcheck.sources.sets.class_sets import head_of
from deskcheck.sources.sets.coding import CodingTask
from deskcheck.sources.text.rows import Row

EVALPLUS = {
    "task_id": str,
    "prompt": str,
    "entry_point": str,
    "canonical_solution": str,
    "base_input": list,
    "plus_input": list,
}


def humaneval_plus(row: Row, place: str) -> CodingTask:
    return _task(row, place, f"humaneval_plus/{_number(row, place)}", task="complete")


def mbpp_plus(row: Row, place: str) -> CodingTask:
    return _task(row, place, f"mbpp_plus/{_number(row, place)}", task="write")


def _number(row: Row, place: str) -> int:
    number = row["task_id"].rpartition("/")[2]
    if not number.isdecimal():
        raise InputError(f"{place}: 'task_id' is {row['task_id']!r}, which has no number at its end.")
    return int(number)


def _task(row: Row, place: str, id_: str, *, task: str) -> CodingTask:
    """task: ``complete`` of HumanEval+, ``write`` of MBPP+."""
    entry, head = row["entry_point"], row["prompt"]
    reference = head + row["canonical_solution"]
    inputs = [*row["base_input"], *row["plus_input"]]
    if not all(isinstance(each, list) for each in inputs):
        raise InputError(f"{place}: 'base_input' and 'plus_input' must be lists of lists of arguments.")
    atol = row.get("atol")
    if isinstance(atol, bool) or not isinstance(atol, (int, float)):
        raise InputError(f"{place}: 'atol' must be a number: how far from the expected floats may be.")
    complete = task == "complete"
    driver = _WHETHER.format(entry=entry) if not complete and entry in _NOT_NONE else ""
    told = {"entry": entry, "reference": reference, "inputs": inputs, "atol": atol}
    shape = "" if complete else _shape(_number(row, place))
    setup = f"{_LONG}{_SAME}{_RULES}{shape}\ntold = json.loads({json.dumps(told)!r})\n"
    function, rule = "whether" if driver else entry, _rule(entry, complete=complete)
    words = "Complete the function as its docstring says." if complete else head.strip().strip('"').strip()
    return CodingTask(
        id=id_,
        prompt=words,
        task=task,
        code=head if complete else "",
        entry_point=entry,
        setup=head_of(head, reference, entry) if complete else "",
        driver=driver,
        test_setup=f"{setup}{_REFERENCE}",
        tests=tuple(f"check_input({n}, {function}, {rule})" for n in range(len(inputs))),
        reference=reference,
    )


_LONG = "import copy, json, math, sys\nsys.set_int_max_str_digits(0)\n"

_SAME = '''
def close(given, expected, atol):
    """As numpy.allclose(rtol=1e-07), for numbers and lists of them of one shape."""
    if isinstance(expected, (list, tuple)):
        return len(given) == len(expected) and all(map(lambda a, b: close(a, b, atol), given, expected))
    return given == expected or abs(given - expected) <= atol + 1e-07 * abs(expected) < math.inf

def all_floats(value):
    return isinstance(value, float) or (
        isinstance(value, (list, tuple)) and bool(value) and all(isinstance(item, float) for item in value)
    )
'''

_RULES = """
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
"""

_REFERENCE = """
scope = {"__name__": "reference"}
exec(compile(told["reference"], "reference.py", "exec"), scope)
inputs = shaped(told["inputs"]) if "shaped" in globals() else told["inputs"]

def check_input(number, function, rule):
    args = inputs[number]
    expected = scope[told["entry"]](*copy.deepcopy(args))
    given = function(*copy.deepcopy(args))
    assert rule(args, given, expected, told["atol"]), "another result"
"""

_NOT_NONE = frozenset({"check_str", "text_match_three", "text_starta_endb"})
"""Of MBPP+: it counts whether anything is found. A match object would not cross to the tests."""
_WHETHER = """\
def whether(*args):
    found = {entry}(*args)
    return found if isinstance(found, bool) else found is not None
"""
_SETS = frozenset(
    {"similar_elements", "find_char_long", "common_in_nested_lists", "extract_singly", "larg_nnum"}
    | {"intersection_array", "find_dissimilar", "Diff"}
)
_OTHER_RULES = {
    "are_equivalent": "anything",
    "sum_div": "or_zero",
    "surface_Area": "or_pyramid",
    "digit_distance_nums": "or_padded",
}


def _rule(entry: str, *, complete: bool) -> str:
    if complete:
        return "a_root" if entry == "find_zero" else "equal"
    if entry in _NOT_NONE:
        return "whether_any"
    return "as_sets" if entry in _SETS else _OTHER_RULES.get(entry, "equal")


# -- what JSON cannot say of MBPP+'s inputs ----------------------------------------------------------

_SHAPES = {
    "[[tuple(a) for a in i] for i in inputs]": (
        *(2, 116, 132, 143, 222, 261, 273, 394, 399, 421, 424, 429, 470, 560, 579, 596, 616, 630, 726, 740),
        *(744, 809),
    ),
    "[[[tuple(x) for x in a] for a in i] for i in inputs]": (
        *(63, 64, 70, 94, 120, 237, 272, 299, 400, 409, 417, 438, 473, 614, 780),
    ),
    "[[[tuple(x) for x in i[0]], i[1]] for i in inputs]": (75, 413, 444, 753),
    "[[i[0], tuple(i[1])] for i in inputs]": (106, 750),
    "[[[set(x) if isinstance(x, list) and x else {} for x in i[0]]] for i in inputs]": (115,),
    "[(float(i[0]), complex(i[1])) for i in inputs]": (124,),
    "[[tuple(i[0]), i[1]] for i in inputs]": (250, 405, 446, 617, 720, 763, 808),
    "[[tuple(tuple(x) for x in a) for a in i] for i in inputs]": (259, 401, 445),
    "[[tuple(tuple(x) if isinstance(x, list) else x for x in i[0])] for i in inputs]": (278,),
    "[[tuple(i[0]), i[1], i[2]] for i in inputs]": (307,),
    "[[{k: tuple(v) for k, v in i[0].items()}, *i[1:]] for i in inputs]": (722,),
    "[[complex(i[0])] for i in inputs]": (252,),
    "[deep(i) for i in inputs]": (580, 615, 791),
}
"""Python that makes of inputs as JSON has them those that are meant, and the numbers of the tasks."""


def _shape(number: int) -> str:
    how = next((text for text, numbers in _SHAPES.items() if number in numbers), None)
    if how is None:
        return ""
    deep = "\ndef deep(i):\n    return tuple(map(deep, i)) if isinstance(i, list) else i\n"
    return f"{deep}\ndef shaped(inputs):\n    return {how}\n"
