"""All that the files of the levels write, in one grammar.

The order here is part of what a seed means: rows in another order give other programs.
"""

from deskcheck.corpus.generated import (
    _arithmetic,
    _branches,
    _calls,
    _dictionaries,
    _exceptions,
    _lists,
    _loop_bodies,
    _loops,
    _strings,
)
from deskcheck.corpus.generated._writer import Grammar

GRAMMAR = Grammar(
    {
        "int": (
            *_arithmetic.INTS,
            *_branches.INTS,
            *_strings.INTS,
            *_lists.INTS,
            *_dictionaries.INTS,
            *_calls.INTS,
        ),
        "str": (*_strings.STRINGS, *_lists.STRINGS, *_calls.STRINGS),
        "list": (*_lists.LISTS, *_dictionaries.LISTS),
        "condition": (
            *_arithmetic.CONDITIONS,
            *_branches.CONDITIONS,
            *_strings.CONDITIONS,
            *_lists.CONDITIONS,
            *_dictionaries.CONDITIONS,
        ),
        "statement": (
            *_arithmetic.STATEMENTS,
            *_branches.STATEMENTS,
            *_loop_bodies.STATEMENTS,
            *_strings.STATEMENTS,
            *_lists.STATEMENTS,
            *_dictionaries.STATEMENTS,
            *_calls.STATEMENTS,
            *_exceptions.STATEMENTS,
        ),
        "loop": tuple(_loops.LOOPS),
    },
    otherwise=_arithmetic.something,
)
