"""Words of a text: how often each occurs, which come most, and a small chart of them."""

import re
from collections import Counter

POEM = """\
How doth the little crocodile
improve his shining tail,
and pour the waters of the Nile
on every golden scale!
"""


def words(text: str) -> list[str]:
    """The words in order, in small letters; an apostrophe belongs to its word.

    >>> words("It's late -- it is LATE!")
    ["it's", 'late', 'it', 'is', 'late']
    """
    return re.findall(r"[a-z]+(?:'[a-z]+)?", text.lower())


def count(text: str) -> dict[str, int]:
    """How often each word occurs, in order of first sight.

    >>> count("the cat and the hat and the bat")
    {'the': 3, 'cat': 1, 'and': 2, 'hat': 1, 'bat': 1}
    """
    counts: Counter[str] = Counter()
    for word in words(text):
        counts[word] += 1
    return dict(counts)


def most_common(counts: dict[str, int], n: int) -> list[tuple[str, int]]:
    """The n most frequent words; among equals the alphabet decides.

    >>> most_common(count(POEM), 4)
    [('the', 3), ('and', 1), ('crocodile', 1), ('doth', 1)]
    """
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:n]


def chart(pairs: list[tuple[str, int]]) -> str:
    """One line for each word, a star for each time.

    >>> print(chart([("the", 3), ("and", 1)]))
    the ***
    and *
    """
    width = max((len(word) for word, _ in pairs), default=0)
    return "\n".join(f"{word:<{width}} {'*' * times}" for word, times in pairs)


if __name__ == "__main__":
    print(chart(most_common(count(POEM), 6)))
