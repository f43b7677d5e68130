"""Displays over several lines: a list, set or dict goes on being built after a line of it has been shown."""

EXTRA = ["b", "c"]


def lists(extra):
    options = [
        "a",
        *extra,
    ]
    both = [
        *extra,
        "d",
        *options,
    ]
    nested = [
        [
            *extra,
        ],
        {
            "in": [*extra, *
                   extra],
        },
    ]
    return options, both, nested


def sets(extra):
    names = {
        "a",
        *extra,
    }
    return sorted(
        {
            *names,
            *"xy",
        }
    )


def dicts(extra):
    defaults = {
        "depth": len(extra),
        **{"name": "x"},
    }
    table = {
        "a": extra, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6,
        "g": extra, "h": 2, "i": 3, "j": 4, "k": 5, "l": 6,
        "m": extra, "n": 2, "o": 3, "p": 4, "q": 5, "r": 6,
    }
    return defaults, table


def long_list(n):
    return [
        n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9, n + 10,
        n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9, n + 10,
        n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9, n + 10,
    ]


def looked_at(box):
    return len(box[0])


def shared(extra):
    seen = []
    total = [
        (part := ["p"]),
        looked_at([part]),
        *part,
        *(seen.append(word) or word for word in extra),
    ]
    return total, seen


def called(extra):
    def joined(*words, **marks):
        return "".join(words) + "".join(marks.values())

    return joined(
        "a",
        *extra,
        x="!",
        **{
            "y": "?",
        },
    )


def waits(extra):
    got = [
        (yield "one"),
        *extra,
        (yield "two"),
    ]
    yield got


class Settings:
    NAMES = [
        "n",
        *EXTRA,
    ]
    TABLE = {
        **{"first": 1},
        "second": 2,
    }


def default(
    names=[
        "d",
        *EXTRA,
    ],
):
    return names


MODULE = [
    "m",
    *EXTRA,
]
print(lists(EXTRA))
print(sets(EXTRA))
for one in dicts(EXTRA):
    print(one)
print(long_list(3))
print(shared(EXTRA))
print(called(EXTRA))
for one in waits(EXTRA):
    print(one)
print(Settings.NAMES, Settings.TABLE, default(), MODULE)
