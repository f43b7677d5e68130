"""EvalPlus's HumanEval+ and MBPP+ (Liu et al. 2023, arXiv:2305.01210), from a user's copy of its releases.

A row has inputs and a reference, but no outputs. An answer is right if it returns the same as the reference
for each input. The comparison is that of EvalPlus (`evalplus/eval`, version 0.3.1): values must be equal, or
close for floats, and some tasks have a special rule. The reference runs in the process of the tests, where
the answer cannot reach it. Not covered: time limits that depend on the reference; those of deskcheck are
fixed.
"""

import json
import tomllib
from typing import Any

from deskcheck.recording import InputError
from deskcheck.sources.sets.class_sets import head_of
from deskcheck.sources.sets.coding import CodingTask
from deskcheck.sources.text.rows import Row
from deskcheck.sources.text.shipped import shipped

_LONG_NUMBERS = "import json, sys\nsys.set_int_max_str_digits(0)"


def humaneval_plus(row: Row, location: str) -> CodingTask:
    return _task(row, location, f"humaneval_plus/{_number(row, location)}", task="complete")


def mbpp_plus(row: Row, location: str) -> CodingTask:
    return _task(row, location, f"mbpp_plus/{_number(row, location)}", task="write")


def _number(row: Row, location: str) -> int:
    number = row["task_id"].rpartition("/")[2]
    if not number.isdecimal():
        raise InputError(f"{location}: 'task_id' is {row['task_id']!r}, which has no number at its end.")
    return int(number)


def _task(row: Row, location: str, task_id: str, *, task: str) -> CodingTask:
    """The task of a row. task: ``complete`` for HumanEval+, ``write`` for MBPP+."""
    entry, head = row["entry_point"], row["prompt"]
    reference = head + row["canonical_solution"]
    inputs = [*row["base_input"], *row["plus_input"]]
    if not all(isinstance(arguments, list) for arguments in inputs):
        raise InputError(f"{location}: 'base_input' and 'plus_input' must be lists of lists of arguments.")
    atol = row.get("atol")
    if isinstance(atol, bool) or not isinstance(atol, (int, float)):
        raise InputError(f"{location}: 'atol' must be a number: how far from the expected floats may be.")
    complete = task == "complete"
    rule = _rule(entry, complete=complete)
    driver = _WHETHER.format(entry=entry) if rule == "whether_any" else ""
    facts = {"entry": entry, "reference": reference, "inputs": inputs, "atol": atol}
    shape = "" if complete else _shape(_number(row, location))
    task_text = f"told = json.loads({json.dumps(facts)!r})\n"
    function = "whether" if driver else entry
    words = "Complete the function as its docstring says." if complete else head.strip().strip('"').strip()
    return CodingTask(
        id=task_id,
        prompt=words,
        task=task,
        code=head if complete else "",
        entry_point=entry,
        setup=head_of(head, reference, entry) if complete else "",
        driver=driver,
        test_setup="\n".join([_LONG_NUMBERS, shape, task_text, shipped("evalplus.py")]),
        tests=tuple(f"check_input({n}, {function}, {rule})" for n in range(len(inputs))),
        reference=reference,
    )


_TABLE: dict[str, dict[str, Any]] = tomllib.loads(shipped("evalplus.toml"))
_WHETHER = """\
def whether(*args):
    found = {entry}(*args)
    return found if isinstance(found, bool) else found is not None
"""


def _rule(entry: str, *, complete: bool) -> str:
    if complete:
        return "a_root" if entry == "find_zero" else "equal"
    return str(_TABLE["rules"].get(entry, "equal"))


def _shape(number: int) -> str:
    """Code that converts the inputs of a task to the intended types, which JSON cannot express."""
    how = next((text for text, numbers in _TABLE["shapes"].items() if number in numbers), None)
    if how is None:
        return ""
    deep = "\ndef deep(i):\n    return tuple(map(deep, i)) if isinstance(i, list) else i\n"
    return f"{deep}\ndef shaped(inputs):\n    return {how}\n"
