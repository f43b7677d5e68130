"""All rules of the levels, in one grammar.

The order of the rules must not change: with another order, a seed gives other programs.
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
    [
        arithmetic.RULES,
        branches.RULES,
        loop_bodies.RULES,
        strings.RULES,
        lists.RULES,
        dictionaries.RULES,
        calls.RULES,
        exceptions.RULES,
        loops.RULES,
    ],
    otherwise=arithmetic.something,
)
