"""Tokenizers of Hugging Face's: what is trained is the completion and its end, to the token."""

from pathlib import Path

import pytest

from deskcheck.recording import InputError
from deskcheck.teach.lessons.lessons import LessonSettings, build
from deskcheck.teach.lessons.tokens import Pretrained
from tests.teach import families
from tests.teach.conftest import Recorded, call, rows_of

pytest.importorskip("transformers", reason="would have proved the loss mask of three families of tokenizers")

CODE = """def grow(row, n):
    row.append('Größe <|end|> ' * n)
    return len(row)


def f(n):
    rows = last = [12345]
    for i in range(n):
        grow(last, i)
    return rows
"""
PLAIN = CODE.replace("Größe", "Size")
FAMILIES = {"byte-level": families.byte_level, "bpe": families.bpe, "unigram": families.unigram}


@pytest.fixture(scope="module", params=FAMILIES)
def family(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder = tmp_path_factory.mktemp(request.param)
    named = {"bos_token": "<s>", "unk_token": "<unk>"} if request.param == "unigram" else {}
    return request.param, families.saved(FAMILIES[request.param](), folder, **named)


def test_the_trained_tokens_are_the_completion_and_its_end(
    family: tuple[str, str], record: Recorded, tmp_path: Path
) -> None:
    """Decoding exactly the trained tokens gives the completion; those before them, the program and the prompt."""
    name, folder = family
    code = PLAIN if name == "unigram" else CODE  # it knows no ö, see below
    runs = record(call("a", code, "(3)"))
    settings = LessonSettings(
        notations=("dynamic", "compact", "direct"), tokenizer=folder, validation=0, test=0
    )
    summary = build([runs], tmp_path / "out", settings)
    assert summary.left_out == {}
    tokenizer = Pretrained(folder)
    rows = rows_of(tmp_path / "out")
    assert {row["notation"] for row in rows} == {"dynamic", "compact", "direct"}
    for row in rows:
        ids, labels = row["input_ids"], row["labels"]
        given = [token for token, label in zip(ids, labels, strict=True) if label == -100]
        trained = [label for label in labels if label != -100]
        assert trained == ids[len(given) :]
        assert trained[-1] == tokenizer.end
        text = row["prefix"] + row["prompt"]
        assert tokenizer.decode(given) == text
        assert tokenizer.decode(ids) == text + row["completion"]
        shown = tokenizer.decode(trained)
        # A text's first blank is a mark of its own there, and a text by itself begins with one.
        assert shown == row["completion"] or (name == "unigram" and f" {shown}" == row["completion"])
        assert (row["tokens"], row["trained_tokens"]) == (len(ids), len(trained))
        assert given[: len(tokenizer.begin)] == tokenizer.begin
        # What a server makes of the prompt as one text is what was trained on.
        assert given == [*tokenizer.begin, *tokenizer.encode(text)]
        assert row["prefix"].startswith(tokenizer.decode(ids[: row["prefix_tokens"]]))
    assert (tokenizer.begin != []) == (name == "unigram")
    assert min(row["prefix_tokens"] for row in rows) > len(tokenizer.begin) + 20


def test_what_is_no_special_token_stays_text(family: tuple[str, str]) -> None:
    """A program that spells the end is not ended there."""
    tokenizer = Pretrained(family[1])
    tokens = tokenizer.encode(f"a = '{families.END}'")
    assert tokenizer.end not in tokens
    assert tokenizer.decode(tokens) == f"a = '{families.END}'"


def test_a_lesson_that_cannot_be_written_is_left_out_and_counted(record: Recorded, tmp_path: Path) -> None:
    """Of a tokenizer that knows ASCII alone, lessons with other characters."""
    folder = families.saved(families.unigram(), tmp_path / "unigram", unk_token="<unk>")
    one = call("a", "def f():\n    return 'é'\n")
    two = call("b", "def f():\n    return 'e'\n")
    settings = LessonSettings(tokenizer=folder, validation=0, test=0)
    summary = build([record(one, two)], tmp_path / "out", settings)
    assert summary.left_out == {"dynamic": {"the tokenizer cannot write it": 2}}
    assert summary.lessons == 2


@pytest.mark.parametrize(
    ("make", "named", "message"),
    [
        (families.lowering, {}, "comes back as"),
        (families.unknowing, {"unk_token": "<unk>"}, "no token for some of the text"),
    ],
)
def test_a_tokenizer_that_loses_text_is_refused(make, named, message, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """Before anything is read."""
    folder = families.saved(make(), tmp_path, **named)
    with pytest.raises(InputError, match=message):
        Pretrained(folder)


def test_a_tokenizer_that_merges_over_the_end_of_the_prompt_is_refused(
    record: Recorded, tmp_path: Path
) -> None:
    """As soon as the first recordings have shown it."""
    folder = families.saved(families.merging(), tmp_path / "merging")
    code = "def f(n):\n    for i in range(n):\n        pass\n"
    runs = record(call("a", code, "(90)"))
    with pytest.raises(
        InputError, match=r"none of the first [0-9]+ lessons .* a token crosses the end of the prompt"
    ):
        build([runs], tmp_path / "out", LessonSettings(tokenizer=folder, validation=0, test=0))


def test_a_tokenizer_that_is_none(tmp_path: Path) -> None:
    """The message names what was asked for."""
    with pytest.raises(InputError, match="empty"):
        Pretrained(str(tmp_path / "empty"))
    from transformers import PreTrainedTokenizerFast

    PreTrainedTokenizerFast(tokenizer_object=families.byte_level()).save_pretrained(tmp_path / "endless")
    with pytest.raises(InputError, match="no token that ends a text"):
        Pretrained(str(tmp_path / "endless"))
