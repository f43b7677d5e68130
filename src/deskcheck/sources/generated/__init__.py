"""Small programs that nobody wrote, typed and bounded by construction: ``generated:1000,difficulty=4``.

    generated("generated:1000,seed=7,difficulty=1-4")    programs, each with several argument lists
    program_text(random.Random("7:12"), 4)          one text and its arguments

Every program ends: loops go over what is bounded, or count towards a bound; recursion counts down. Every
variable has a type and an interval that holds wherever it can be seen, so values stay small. A call may be
left by an exception from level 10 on.

The same seed gives the same programs on every supported Python: of the random numbers only `random()` is
used, whose sequence does not change between versions.

Not in the language: classes, generators, decorators, lambdas, imports, globals, input and output of files,
floats other than halves, `while` on anything but counters, and the standard library.
"""

from deskcheck.sources.generated.program import Made, program_text
from deskcheck.sources.generated.source import HIGHEST, LICENCE, PREFIX, SOURCE, generated

__all__ = ["HIGHEST", "LICENCE", "PREFIX", "SOURCE", "Made", "generated", "program_text"]
