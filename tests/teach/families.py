"""Real tokenizers of the known families, trained here on the text of lessons; nothing is downloaded."""

from pathlib import Path
from typing import Any

END = "<|end|>"


def text_to_train_on() -> list[str]:
    lines = Path(__file__).parents[1].joinpath("programs").glob("control_*.py")
    programs = [path.read_text("utf-8") for path in sorted(lines)]
    states = [
        f"f {n}: n={n}, rows=[{n}, {n * 7}] | <range_iterator left=range({n}, 90)>\n" for n in range(200)
    ]
    return [*programs, *states, "1|def f(n):\n2|    return n\n\n+1\n"]


def byte_level() -> Any:
    """A token a byte."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    found = Tokenizer(models.BPE({char: at for at, char in enumerate(alphabet)}, []))
    found.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    found.decoder = decoders.ByteLevel()
    return found


def bpe() -> Any:
    """Byte-pair encoding over GPT-2's pieces."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    found = Tokenizer(models.BPE())
    found.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    found.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=700, initial_alphabet=alphabet, show_progress=False)
    found.train_from_iterator(text_to_train_on(), trainer)
    return found


def unigram() -> Any:
    """SentencePiece's: pieces by likelihood, a mark for the blank and one before every text, bytes for the rest; and a
    token that begins a text."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    found = Tokenizer(models.Unigram())
    found.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    trainer = trainers.UnigramTrainer(
        vocab_size=600,
        initial_alphabet=[chr(n) for n in range(32, 127)] + ["\n", "\t"],
        special_tokens=["<unk>", "<s>"],
        unk_token="<unk>",
        show_progress=False,
    )
    found.train_from_iterator(text_to_train_on(), trainer)
    found.decoder = decoders.Metaspace(prepend_scheme="first")
    found.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return found


def merging() -> Any:
    """One that makes one token of the newline and what follows it."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    found = Tokenizer(models.BPE())
    found.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    found.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, show_progress=False)
    found.train_from_iterator(["+1\nf +1\nf +1\nf +1\nglobals"] * 50, trainer)
    return found


def lowering() -> Any:
    """One that loses what is upper case."""
    from tokenizers import normalizers

    found = bpe()
    found.normalizer = normalizers.Lowercase()
    return found


def unknowing() -> Any:
    """One that has no token for most characters."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    found = Tokenizer(models.WordLevel({"<unk>": 0, "f": 1}, unk_token="<unk>"))
    found.pre_tokenizer = pre_tokenizers.Whitespace()
    return found


def saved(tokenizer: Any, folder: Path, **named: str) -> str:
    """A folder that `transformers` opens it from."""
    from transformers import PreTrainedTokenizerFast

    names = {"eos_token": END, **named}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)
    return str(folder)
