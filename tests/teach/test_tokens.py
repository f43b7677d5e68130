"""Texts as tokens: bytes with numbers turned round, and words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskcheck.recording import InputError
from deskcheck.teach.lessons.tokens import Bytes, Edits, Words, pieces

TEXTS = st.text(st.characters(codec=None)) | st.text("0123456789 a=-.,", max_size=40)


def test_digits_are_written_least_significant_first() -> None:
    assert bytes(Bytes().encode("f 12: n=3038, x=-1.25")) == b"f 21: n=8303, x=-1.52"


@given(TEXTS)
def test_every_text_comes_back(text: str) -> None:
    assert Bytes().decode(Bytes().encode(text)) == text


@given(st.lists(st.integers(0, Bytes.size - 1)))
def test_decoding_never_raises(tokens: list[int]) -> None:
    assert isinstance(Bytes().decode(tokens), str)


def test_special_tokens_say_nothing() -> None:
    assert Bytes().decode([104, 105, Bytes.end, Bytes.padding]) == "hi"


WORDS = Words(["range_iterator", ", ", "|    ", "\n    ", "=[", "total"])


@given(st.text())
def test_any_text_comes_back_from_words(text: str) -> None:
    assert WORDS.decode(WORDS.encode(text)) == text


@given(st.lists(st.integers(0, WORDS.size - 1)))
def test_any_tokens_of_words_are_some_text(tokens: list[int]) -> None:
    assert isinstance(WORDS.decode(tokens), str)


def test_words_are_one_token_and_digits_are_single() -> None:
    assert len(WORDS.encode("total")) == 1
    assert len(WORDS.encode("totals")) == 6  # another name: all of it in bytes
    assert WORDS.encode("total=[120, 7") == [
        *WORDS.encode("total"),
        *WORDS.encode("=["),
        *b"021",
        *WORDS.encode(", "),
        *b"7",
    ]


def test_where_a_text_is_taken_apart_does_not_depend_on_the_words() -> None:
    """So the tokens of a prompt stay the same whatever answer follows."""
    found = pieces("f 12: n=[3, -1]\n    x")
    assert found == ["f", " ", "1", "2", ": ", "n", "=[", "3", ", ", "-", "1", "]", "\n    ", "x"]


def test_words_that_are_learned_save_most() -> None:
    texts = ["total = total + one\n"] * 3
    assert Words.learned(texts, 1, min_count=1).words == ("total",)
    assert Words.learned(texts, 9, min_count=1).words == ("total", " + ", " = ", "one")
    assert Words.learned(texts, 9, min_count=4).words == ("total",)
    assert Words.learned(texts, 0).size == Bytes.size


@pytest.mark.parametrize("words", [["two words"], ["x1"], ["12"], ["a"], [""], ["ab", "ab"]])
def test_what_is_no_word_is_refused(words: list[str]) -> None:
    with pytest.raises(InputError, match="words: "):
        Words(words)


@given(st.text(), st.text())
def test_edits_give_back_any_answer(state: str, answer: str) -> None:
    """Prompts go in and answers come out as whole texts, whatever stands in between."""
    tokenizer = Edits(Bytes())
    for prompt in (f"{state}\n4|    total += i\n+1\n", f"{state}\n+12\n", f"f(4)\n{state}"):
        assert tokenizer.decode_answer(prompt, tokenizer.encode_answer(prompt, answer)) == answer


def test_a_step_is_asked_and_answered_in_short() -> None:
    """The values of the names that a line reads, the iterator of a loop, the lines that may follow; and of
    what it does, the line that follows and what it assigns, changed or not."""
    tokenizer, state = Edits(Bytes()), "f 4: n=3, total=10, i=12"
    program = (
        "1|def f(n):\n2|    total = 0\n3|    for i in range(n):\n4|        total += i\n5|    return total\n\n"
    )
    prompt = f"{state}\n4|        total += i\n+1\n"
    assert tokenizer.decode(tokenizer.encode_answer(prompt, "f 3: n=3, total=22, i=12")) == "3: total=22"
    assert tokenizer.decode(tokenizer.encode_answer(prompt, "f 3: n=3, total=10, i=12")) == "3: total=10"
    told = tokenizer.decode(tokenizer.encode_prompt(prompt, program))
    assert told == f"{state}\n4|        total += i\ntotal=10, i=12 > 3\n+1\n"
    prompt = "f 3: n=3, total=10, i=1 | <it>\n3|    for i in range(n):\n+1\n"
    told = tokenizer.decode(tokenizer.encode_prompt(prompt, program))
    assert told == prompt.removesuffix("+1\n") + "n=3 | <it> > 4 5\n+1\n"
    told = tokenizer.decode(tokenizer.encode_prompt(prompt, "no program"))
    assert told == prompt.removesuffix("+1\n") + "n=3 | <it>\n+1\n"
    whole = "f(4)\ncompact\n"
    assert tokenizer.encode_prompt(whole, program) == Bytes().encode(whole)
