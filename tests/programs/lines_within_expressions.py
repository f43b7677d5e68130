"""Lines within an expression: what lies on the value stack there is replaced in place, with nothing assigned."""


class Base:
    def name(self, mark):
        return "base" + mark


class Text(Base):
    words = "some words"

    def name(self, mark):
        return super().name(
            mark
        )


def unary(x):
    return max(
        -
        x,
        not
        x,
        ~
        x,
        0,
    )


def tuples(x):
    return len(
        (
            x,
        )
    ), (
        (
            x,
        ),
    )


def lists(n):
    return [
        0
    ] * n + [
        n
    ]


def attributes(text):
    return (
        text
        .words
        .title(
        )
        .replace(
            "S",
            "s",
        )
    )


def slices(items, low):
    return items[
        -
        low:
        ]


def chains(x):
    return (
        0
        <
        x
        <
        9
        and
        not
        x
        or
        -
        x
    )


def loops(items):
    total = 0
    for item in items:
        total += max(
            -
            item,
            item,
        )
    return total


print(unary(5), tuples(4), lists(3), attributes(Text()), slices([1, 2, 3], 2), chains(3), loops([1, -2]))
print(Text().name("!"))
