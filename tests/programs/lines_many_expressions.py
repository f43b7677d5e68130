"""Expressions and calls over many lines: lines are visited out of order and more than once."""

a = [
    4,
    5,
    [6],
]


def add(
    x,
    y=9,
    *rest,
):
    return (
        x
        + y
        + sum(rest)
    )


b = add(
    add(20),
    add(
        22,
        23,
    ),
    *a[:2],
)
c = (
    "one"
    " literal"
    f" {b}"
)
d = b > 30 and \
    b < 100 or \
    a
print(a, b,
      c, d)
assert (
    b ==
    83
), "multi-line assert"
