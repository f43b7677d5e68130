"""Tokenizers: text as the numbers that a model reads and writes.

`Bytes` is the tokenizer of small models: one token for each byte of UTF-8, with the digits of every number
in reverse. Sums carry in this order, so that each digit depends only on earlier ones (Lee et al. 2023,
arXiv:2307.03381). Reversing digits twice restores any text. `Words` has further tokens for frequent words,
which makes a state half as long; digits remain single.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

from deskcheck.notation.edits import edit_text, edited, names_of
from deskcheck.notation.following import following
from deskcheck.notation.layout import asked_state, program_code
from deskcheck.recording import InputError, MissingExtra

_DIGITS = re.compile(r"([0-9]{2,})")


class Tokenizer(Protocol):
    """A tokenizer for lessons and the stepper."""

    size: int
    """Number of different tokens."""
    end: int
    """The token that ends an answer."""

    def encode(self, text: str) -> list[int]:
        """The tokens of a text, with nothing added."""

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens. Never raises: invalid bytes become U+FFFD."""

    def encode_prompt(self, prompt: str, program: str) -> list[int]:
        """The tokens of a prompt about a program, to follow those of its text (`program_text`)."""
        return self.encode(prompt)

    def encode_answer(self, prompt: str, answer: str) -> list[int]:
        """The tokens of the answer to a prompt, without the end."""
        return self.encode(answer)

    def decode_answer(self, prompt: str, tokens: Sequence[int]) -> str:
        """The answer to a prompt, from tokens. Never raises."""
        return self.decode(tokens)


class Bytes(Tokenizer):
    """Bytes of UTF-8, with the least significant digit first. Two more tokens end an answer and pad a batch.

    Surrogates are encoded by Python's ``surrogatepass``.
    """

    size = 258
    end = 256
    padding = 257

    def encode(self, text: str) -> list[int]:
        return list(self.data(text))

    def data(self, text: str) -> bytes:
        """The tokens of `encode` as bytes."""
        return _turned(text).encode("utf-8", "surrogatepass")

    def decode(self, tokens: Sequence[int]) -> str:
        data = bytes([token for token in tokens if token < 256])
        try:
            text = data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            text = data.decode("utf-8", "replace")
        return _turned(text)


class Words(Tokenizer):
    """`Bytes` with a token for each of some words, which are names or runs of punctuation.

    The division of a text does not depend on the words, and digits are never part of a word. words: pieces of
    text by `pieces`. Raises InputError for any other word.
    """

    end = Bytes.end
    padding = Bytes.padding

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)
        self.size = Bytes.size + len(self.words)
        data = [word.encode("utf-8", "surrogatepass") for word in self.words]
        for word in data:
            if len(word) < 2 or _PIECES.findall(word) != [word]:
                raise InputError(f"words: {word.decode(errors='replace')!r} is not one word (see `pieces`).")
        self._numbers = {word: Bytes.size + number for number, word in enumerate(data)}
        if len(self._numbers) < len(data):
            raise InputError("words: one of them occurs twice.")
        self._texts = [bytes([number]) for number in range(256)] + [b"", b""] + data

    def encode(self, text: str) -> list[int]:
        tokens: list[int] = []
        numbers = self._numbers
        for piece in _PIECES.findall(_turned(text).encode("utf-8", "surrogatepass")):
            number = numbers.get(piece)
            if number is None:
                tokens += piece
            else:
                tokens.append(number)
        return tokens

    def decode(self, tokens: Sequence[int]) -> str:
        data = b"".join([self._texts[token] for token in tokens])
        try:
            text = data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            text = data.decode("utf-8", "replace")
        return _turned(text)

    @classmethod
    def learned(cls, texts: Iterable[str], limit: int, min_count: int = 20) -> "Words":
        """The `limit` words that save the most tokens in these texts, each with `min_count` or more uses.

        The same texts give the same words.
        """
        counts = Counter(piece for text in texts for piece in pieces(text))
        saved = [
            (-(len(word.encode("utf-8", "surrogatepass")) - 1) * n, word)
            for word, n in counts.items()
            if n >= min_count and len(word) > 1
        ]
        return cls([word for _, word in sorted(saved)[:limit]])


EDITS = 3
"""Version of the tokens of `Edits`. A model works only with the version it was trained with."""
EDITS_READ = frozenset({2, EDITS})
"""Versions that can run models. Version 2 writes whole values; version 3 writes and looks up items of lists,
and describes an iterator's next item and its advance."""


class Edits(Tokenizer):
    """A tokenizer that shortens the answer to a step: it is an edit of the state before.

    A machine looks up for the model what it can: the prompt repeats the values of the variables in the line
    (`deskcheck.notation.edits`) and names the lines that may follow (`following`). Callers still give prompts
    and receive whole states.
    """

    def __init__(self, tokenizer: Tokenizer, version: int = EDITS) -> None:
        self.tokenizer = tokenizer
        self.parts = version >= 3
        self.size, self.end = tokenizer.size, tokenizer.end

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text)

    def decode(self, tokens: Sequence[int]) -> str:
        return self.tokenizer.decode(tokens)

    def encode_prompt(self, prompt: str, program: str) -> list[int]:
        state = asked_state(prompt)
        if state is None:
            return self.encode(prompt)
        line, _, jump = prompt[len(state) + 1 :].rpartition("+")
        ways = following(program_code(program)).get(_number(line), ())
        then = f" > {' '.join(map(str, ways))}" if ways else ""
        return self.encode(f"{state}\n{line}{names_of(state, line, parts=self.parts)}{then}\n+{jump}")

    def encode_answer(self, prompt: str, answer: str) -> list[int]:
        state = asked_state(prompt)
        if state is None:
            return self.encode(answer)
        line, _, jump = prompt[len(state) + 1 :].rpartition("+")
        shown_line = line if jump == "1\n" else ""
        return self.encode(edit_text(state, answer, shown_line, parts=self.parts))

    def decode_answer(self, prompt: str, tokens: Sequence[int]) -> str:
        state, text = asked_state(prompt), self.decode(tokens)
        return text if state is None else edited(state, text)


def _number(line: str) -> int:
    """The number at the beginning of a line of a program; 0 without one."""
    number, bar, _ = line.partition("|")
    return int(number) if bar else 0


def pieces(text: str) -> list[str]:
    """The pieces of a text that can be words: names and keywords, runs of punctuation with the blanks around
    them, and line ends with the indent after them. Digits and all else are single bytes, and left out."""
    matches = _PIECES.findall(text.encode("utf-8", "surrogatepass"))
    return [piece.decode("ascii") for piece in matches if piece.isascii()]


_PIECES = re.compile(rb"[A-Za-z_]+| ?[!-/:-@\[-^`{-~]+ *|\n+ *| +|.", re.DOTALL)


class Pretrained(Tokenizer):
    """A fast Hugging Face tokenizer, from a local folder or the hub.

    A text that looks like a special token is encoded like any other text.

    Raises:
        InputError: it does not exist; it is not a fast tokenizer; it has no token that ends a text; it
            cannot decode the tokens of a program to the same program.
        MissingExtra: the extra [teach] is not installed.
    """

    def __init__(self, name: str) -> None:
        try:
            from transformers import AutoTokenizer
        except ImportError as error:
            raise MissingExtra("transformers", "teach", f"the tokenizer {name!r}") from error
        try:
            tokenizer = AutoTokenizer.from_pretrained(name)
        except (OSError, ValueError, KeyError) as error:
            raise InputError(
                f"tokenizer {name!r}: {str(error).strip().splitlines()[0]} Known are bytes, a folder with "
                "tokenizer.json and tokenizer_config.json, and names on the Hugging Face hub."
            ) from error
        if not getattr(tokenizer, "is_fast", False):
            raise InputError(f"tokenizer {name!r}: is not a fast tokenizer; only these are supported.")
        if tokenizer.eos_token_id is None:
            raise InputError(f"tokenizer {name!r}: has no token that ends a text (eos_token).")
        self.name = name
        self.end: int = tokenizer.eos_token_id
        self.size = len(tokenizer)
        self.unknown: int | None = tokenizer.unk_token_id
        self._backend = tokenizer.backend_tokenizer
        self._backend.no_truncation()
        self._backend.no_padding()
        self._backend.encode_special_tokens = True
        around = self._backend.encode("a", add_special_tokens=True).ids
        self.begin: list[int] = (
            [tokenizer.bos_token_id] if around[0] == tokenizer.bos_token_id is not None else []
        )
        """The tokens before every text."""
        if wrong := self.wrong([_EVERYTHING], self.encode_all([_EVERYTHING]))[0]:
            raise InputError(f"tokenizer {name!r}: {wrong}. Choose one that keeps every character.")

    def encode(self, text: str) -> list[int]:
        return self.encode_all([text])[0]

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        """The tokens of many texts, on all cores."""
        return [
            encoding.ids for encoding in self._backend.encode_batch(list(texts), add_special_tokens=False)
        ]

    def decode(self, tokens: Sequence[int]) -> str:
        text: str = self._backend.decode(list(tokens), skip_special_tokens=True)
        return text

    def wrong(self, texts: Sequence[str], tokens: Sequence[Sequence[int]]) -> list[str | None]:
        """The difference between each text and its tokens; None if they agree."""
        reasons: list[str | None] = []
        back = self._backend.decode_batch([list(numbers) for numbers in tokens], skip_special_tokens=False)
        for text, numbers, again in zip(texts, tokens, back, strict=True):
            if self.unknown is not None and self.unknown in numbers:
                reasons.append("it has no token for some of the text")
            elif again != text:
                pairs = enumerate(zip(text, again, strict=False))
                start = next((place for place, (old, new) in pairs if old != new), len(again))
                reasons.append(f"{text[start : start + 10]!r} comes back as {again[start : start + 10]!r}")
            else:
                reasons.append(None)
        return reasons


_EVERYTHING = "1|def f(n):\n2|\treturn 'A  b'\n\nf 2: n=12\n+1\n" + "".join(map(chr, range(33, 127)))
"""A text with all elements of programs and states."""


AnyTokenizer = Bytes | Pretrained
"""The tokenizers of lessons."""


def open_tokenizer(name: str) -> AnyTokenizer:
    """The tokenizer of that name: ``bytes``, or a Hugging Face one (see `Pretrained`)."""
    return Bytes() if name == "bytes" else Pretrained(name)


def _turned(text: str) -> str:
    """A text with every run of digits reversed."""
    parts = _DIGITS.split(text)  # text, digits, text, ...: twice as quick as a function for each match
    parts[1::2] = [digits[::-1] for digits in parts[1::2]]
    return "".join(parts)
