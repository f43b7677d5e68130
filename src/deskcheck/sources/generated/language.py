"""What generated programs have at each level, declared: a test holds what the other files write to it."""

from collections.abc import Mapping

LEVELS: Mapping[int, str] = {
    1: "arithmetic",
    2: "branches",
    3: "loops",
    4: "nested loops",
    5: "strings",
    6: "lists and tuples",
    7: "dictionaries and sets",
    8: "calls",
    9: "recursion",
    10: "exceptions",
}
"""A level has all of the levels below it. Level -> what it brings."""
LANGUAGE: Mapping[int, frozenset[str]] = {
    level: frozenset(words.split())
    for level, words in {
        1: "+ - * / // % ** & | ^ << >> -x ~x not < > <= >= == != += -= *= //= %= "
        "abs() divmod() int() max() min() round() FunctionDef Return Assign Tuple Name arg",
        2: "If IfExp and or chained-comparison",
        3: "For While Break Continue range() For-else",
        4: "",
        5: "in not-in Subscript Slice Attribute JoinedStr FormattedValue chr() enumerate() len() ord() str() "
        ".capitalize() .count() .endswith() .find() .isalpha() .isdigit() .islower() .isupper() .lower() "
        ".replace() .rfind() .startswith() .strip() .swapcase() .title() .upper() .zfill()",
        6: "List ListComp GeneratorExp comprehension Starred Delete Expr keyword all() any() list() "
        "reversed() sorted() sum() zip() .append() .extend() .insert() .join() .pop() .remove() .reverse() "
        ".sort() .split()",
        7: "Dict DictComp Set set() .add() .discard() .get() .items() .setdefault() .values()",
        8: "call default-argument keyword-argument",
        9: "recursion",
        10: "Try Try-else finally ExceptHandler Raise Assert ArithmeticError Exception IndexError KeyError "
        "LookupError RuntimeError TypeError ValueError ZeroDivisionError "
        "KeyError() RuntimeError() TypeError() ValueError()",
    }.items()
}
"""Level -> constructs that programs have from there on, in the words of `coverage`, blanks as hyphens;
literals are left out, and that loops stand inside loops from level 4 on."""
HIGHEST = len(LEVELS)
