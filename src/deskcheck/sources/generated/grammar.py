"""All that the files of the levels write, in one grammar.

The order here is part of what a seed means: rows in another order give other programs.
"""

from deskcheck.sources.generated.statements import (
    arithmetic,
    branches,
    calls,
    dictionaries,
    exceptions,
    lists,
    loop_bodies,
    loops,
    strings,
)
from deskcheck.sources.generated.writing.writer import Grammar

GRAMMAR = Grammar(
    {
        "int": (
            *arithmetic.INTS,
            *branches.INTS,
            *strings.INTS,
            *lists.INTS,
            *dictionaries.INTS,
            *calls.INTS,
        ),
        "str": (*strings.STRINGS, *lists.STRINGS, *calls.STRINGS),
        "list": (*lists.LISTS, *dictionaries.LISTS),
        "condition": (
            *arithmetic.CONDITIONS,
            *branches.CONDITIONS,
            *strings.CONDITIONS,
            *lists.CONDITIONS,
            *dictionaries.CONDITIONS,
        ),
        "statement": (
            *arithmetic.STATEMENTS,
            *branches.STATEMENTS,
            *loop_bodies.STATEMENTS,
            *strings.STATEMENTS,
            *lists.STATEMENTS,
            *dictionaries.STATEMENTS,
            *calls.STATEMENTS,
            *exceptions.STATEMENTS,
        ),
        "loop": tuple(loops.LOOPS),
    },
    otherwise=arithmetic.something,
)
