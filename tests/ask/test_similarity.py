"""The metrics of text: by their definitions, and against the packages that are quoted for them."""

import itertools
import random
from importlib.util import find_spec

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deskcheck.ask.answers.similarity import chrf, common_subsequence, exact, rouge_l
from tests.sample import examples

TEXTS = st.text(alphabet="abA1 .,[]\né", max_size=40)


@pytest.mark.parametrize(
    ("text", "expected", "same"),
    [
        ("a \nb\n", "a\nb", True),
        ("  a", "a", True),
        ("a\n b", "a\nb", False),
        ("", " \n", True),
        ("A", "a", False),
        ("a\r\nb", "a\nb", True),
        *((f"a{end}b", "a\nb", False) for end in "\r\x0b\x0c\x1c\x85\u2028\u2029"),
        ("a\u2028b", "a\u2028b", True),
    ],
)
def test_exact(text: str, expected: str, same: bool) -> None:
    """White space at the ends of lines and of the text does not count, inside it does."""
    assert exact(text, expected) == same


def test_rouge_l_by_hand() -> None:
    """Lin 2004, section 3.1: "police kill the gunman" has 2 of 4 words in order with "police killed the gunman"."""
    assert rouge_l("police kill the gunman", "police killed the gunman") == 0.75
    assert rouge_l("the gunman kill police", "police killed the gunman") == 0.5
    assert rouge_l("x", "") == 0
    assert rouge_l("[]", "[]") == 1
    assert rouge_l("[]", "{}") == 0


def test_chrf_by_hand() -> None:
    """Of "abc" and "abd" two of three letters and one of two pairs agree, of triples none."""
    mean = (2 / 3 + 1 / 2 + 0) / 3
    assert chrf("abc", "abd") == pytest.approx(mean)
    assert chrf("a b\nc", "abc") == 1
    # Orders count that both are long enough for: precision (1/3), recall 1, and F with beta 2.
    assert chrf("abc", "a") == pytest.approx(5 * (1 / 3) / (4 / 3 + 1))
    assert chrf("", "a") == chrf("a", "") == chrf("x", "a") == 0


@pytest.mark.skipif(find_spec("rouge_score") is None, reason="would have compared ROUGE-L with rouge_score")
@settings(max_examples=examples(300), deadline=None)
@given(TEXTS, TEXTS)
@example("[]", "[]")
def test_rouge_l_is_that_of_rouge_score(text: str, expected: str) -> None:
    """Equal to the package wherever one of the texts has a word."""
    from rouge_score import rouge_scorer as rouge

    known = rouge.RougeScorer(["rougeL"]).score(expected, text)["rougeL"].fmeasure
    if any(c.isascii() and c.isalnum() for c in text + expected):
        assert rouge_l(text, expected) == pytest.approx(known, abs=1e-12)
    else:
        assert known == 0


@pytest.mark.skipif(find_spec("sacrebleu") is None, reason="would have compared chrF with sacreBLEU")
@settings(max_examples=examples(300), deadline=None)
@given(TEXTS, TEXTS)
@example("ab", "ab")
def test_chrf_is_that_of_sacrebleu(text: str, expected: str) -> None:
    """Equal to the package wherever one of the texts has more than white space."""
    from sacrebleu import metrics

    known = metrics.CHRF().sentence_score(text, [expected]).score / 100
    if (text + expected).strip():
        assert chrf(text, expected) == pytest.approx(known, abs=1e-12)
    else:
        assert known == 0


@given(st.lists(st.sampled_from("abc"), max_size=9), st.lists(st.sampled_from("abcd"), max_size=9))
def test_the_longest_common_subsequence(first: list[str], second: list[str]) -> None:
    """As trying every subsequence finds it."""

    def is_in(part: tuple[str, ...]) -> bool:
        rest = iter(second)
        return all(word in rest for word in part)

    sizes = range(len(first), -1, -1)
    longest = next(n for n in sizes if any(map(is_in, itertools.combinations(first, n))))
    assert common_subsequence(first, second) == longest


@given(TEXTS, TEXTS)
def test_metrics_lie_between_0_and_1_and_are_1_for_the_text_itself(text: str, other: str) -> None:
    """The oracle scores 1 in every metric, whatever its answer."""
    for metric in (exact, rouge_l, chrf):
        assert metric(text, text) == 1
        assert 0 <= metric(text, other) <= 1


def test_long_texts_take_no_long_time() -> None:
    """20,000 words against 20,000: by a table that would be 400 million steps."""
    rng = random.Random(0)
    words = [str(rng.randrange(100)) for _ in range(20_000)]
    assert common_subsequence(words, words[::-1]) < len(words)
    assert common_subsequence(words, words[1:]) == len(words) - 1
