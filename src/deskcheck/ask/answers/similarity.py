"""The similarity of two texts: exact match, ROUGE-L and chrF, each from 0 to 1.

They compare spelling. `outputs` compares by value, and running an answer by effect. If a text has nothing
that a metric looks at (``[]`` has no words), the metric is the exact match. The published packages give 0 in
that case, also for a text and itself.
"""

import re
from collections import Counter

_WORD = re.compile(r"[a-z0-9]+")
_ORDER, _BETA = 6, 2


def exact(text: str, expected: str) -> float:
    """1.0 if the texts are equal line by line, white space at the ends of lines and of the text aside."""
    return float(lines_of(text) == lines_of(expected))


def lines_of(text: str) -> list[str]:
    """A text by lines; white space at the ends of lines and of the text does not count.

    A line ends with ``\\n`` alone, or with ``\\r`` before it. What else `str.splitlines` takes for an end (a
    form feed, U+2028) is a character like any other: who printed it did not print a new line.
    """
    return [line.rstrip() for line in text.strip().split("\n")]


def rouge_l(text: str, expected: str) -> float:
    """F1 of the longest common subsequence of words: ROUGE-L (Lin 2004, section 3.1) of the whole text.

    Words are those of the package rouge_score (0.1.2, ``use_stemmer=False``): lower case, runs of ASCII
    letters and digits, separated by everything else.
    """
    words, right = _WORD.findall(text.lower()), _WORD.findall(expected.lower())
    if not words and not right:
        return exact(text, expected)
    common = common_subsequence(words, right)
    return 2 * common / (len(words) + len(right))


def common_subsequence(first: list[str], second: list[str]) -> int:
    """Length of the longest common subsequence, bit by bit: Hyyrö 2004, "Bit-parallel LCS-length computation
    revisited"; n * m / 64 steps of the processor rather than n * m of Python's."""
    places: dict[str, int] = {}
    for index, word in enumerate(first):
        places[word] = places.get(word, 0) | 1 << index
    every = (1 << len(first)) - 1
    row = every
    for word in second:
        match = row & places.get(word, 0)
        row = ((row + match) | (row - match)) & every
    return len(first) - row.bit_count()


def chrf(text: str, expected: str) -> float:
    """Character n-gram F-score (Popović 2015), n to 6, beta 2, as sacreBLEU's sentence chrF2 (/ 100).

    White space is taken out first; case counts. Precision and recall are means over the orders that both
    texts are long enough for.
    """
    answer_chars, right = "".join(text.split()), "".join(expected.split())
    if not answer_chars and not right:
        return exact(text, expected)
    precision = recall = 0.0
    orders = 0
    for n in range(1, _ORDER + 1):
        ours = Counter(answer_chars[i : i + n] for i in range(len(answer_chars) - n + 1))
        theirs = Counter(right[i : i + n] for i in range(len(right) - n + 1))
        if ours and theirs:
            common = (ours & theirs).total()
            precision += common / ours.total()
            recall += common / theirs.total()
            orders += 1
    if not orders or not precision + recall:
        return 0.0
    precision, recall = precision / orders, recall / orders
    return (1 + _BETA**2) * precision * recall / (_BETA**2 * precision + recall)
