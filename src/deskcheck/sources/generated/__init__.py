"""Small generated programs, typed and bounded by construction: ``generated:1000,difficulty=4``.

    generated("generated:1000,seed=7,difficulty=1-4")    programs, each with several argument lists
    program_text(random.Random("7:12"), 4)          one text and its arguments

Every program ends: loops iterate over bounded values or count towards a bound, and recursion counts down.
Every variable has a type and an interval that is valid wherever the variable is visible, so values stay
small. From level 10 on, a call may end in an exception.

The same seed gives the same programs on every supported Python, because only `random()` is used, whose
sequence does not change between versions.

Not used: classes, generators, decorators, lambdas, imports, globals, input and output of files, floats other
than halves, `while` on anything but counters, and the standard library.
"""

from deskcheck.sources.generated.program import Made, program_text
from deskcheck.sources.generated.source import HIGHEST, LICENCE, PREFIX, SOURCE, generated

__all__ = ["HIGHEST", "LICENCE", "PREFIX", "SOURCE", "Made", "generated", "program_text"]
