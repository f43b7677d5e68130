"""Lines that make no code: docstrings, constants, comments, pass, dead branches, global, bare annotations."""

a = 3
"a string that is thrown away"
6
...
if 0:
    a = "never"
if __debug__:
    b = 10
while 1:
    # a comment
    pass

    break
else:
    b = "never"


def f(x):
    """A docstring.

    Over several lines.
    """
    global a
    y: int
    if x:
        pass
    else:
        pass
    if not None:
        return x
    return "never"


class C:
    """Only a docstring."""


print(a, b, f(0), f(1), C.__doc__, f.__doc__.splitlines()[0])
