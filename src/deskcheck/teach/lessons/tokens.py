"""Text as the numbers that a model reads and writes.

`Bytes` is the tokenizer of the small models that are trained from nothing: one token a byte of UTF-8, with
the digits of every number written least significant first. That is the order in which sums carry: each digit
then depends on what stands before it (Lee et al. 2023, arXiv:2307.03381). Reversing runs of digits is its
own inverse, so any text comes back exactly. `Words` is the same with one token for each of the words that
its lessons are full of, which makes a state half as long; digits stay single.
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
    """What lessons and the stepper need of a tokenizer."""

    size: int
    """Number of different tokens."""
    end: int
    """The token that ends an answer."""

    def encode(self, text: str) -> list[int]:
        """The tokens of a text, with nothing added."""

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens. Never raises: other bytes become U+FFFD."""

    def encode_prompt(self, prompt: str, program: str) -> list[int]:
        """The tokens of what is asked about a program, behind those of its text (`program_text`)."""
        return self.encode(prompt)

    def encode_answer(self, prompt: str, answer: str) -> list[int]:
        """The tokens of the answer to a prompt, without the end."""
        return self.encode(answer)

    def decode_answer(self, prompt: str, tokens: Sequence[int]) -> str:
        """The answer to a prompt, from tokens. Never raises."""
        return self.decode(tokens)


class Bytes(Tokenizer):
    """Bytes of UTF-8, digits least significant first; two more tokens end an answer and fill a batch.

    Surrogates, which UTF-8 does not have, pass through as Python's ``surrogatepass`` writes them.
    """

    size = 258
    end = 256
    padding = 257

    def encode(self, text: str) -> list[int]:
        return list(self.data(text))

    def data(self, text: str) -> bytes:
        """The tokens as bytes: `encode` without a number for each."""
        return _turned(text).encode("utf-8", "surrogatepass")

    def decode(self, tokens: Sequence[int]) -> str:
        data = bytes([token for token in tokens if token < 256])
        try:
            text = data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            text = data.decode("utf-8", "replace")
        return _turned(text)


class Words(Tokenizer):
    """`Bytes`, and a token for each of some words, names and runs of punctuation; what is none of them is
    written in bytes.

    Where a text is taken apart does not depend on which words there are, and no digit is ever part of one.
    words: each one piece of text as `pieces` gives them. Raises InputError for any other.
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
            raise InputError("words: one of them is there twice.")
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
    def learned(cls, texts: Iterable[str], most: int, least: int = 20) -> "Words":
        """The `most` words that save the most tokens in these texts; each stands there `least` times or
        oftener. The same texts give the same words."""
        counts = Counter(piece for text in texts for piece in pieces(text))
        saved = [
            (-(len(word.encode("utf-8", "surrogatepass")) - 1) * n, word)
            for word, n in counts.items()
            if n >= least and len(word) > 1
        ]
        return cls([word for _, word in sorted(saved)[:most]])


EDITS = 3
"""What `Edits` adds, as a number: a model is of no use with another one's."""
EDITS_READ = frozenset({2, EDITS})
"""Those that models are run with: 3 tells items of lists and looks them up, iterators that go one
on, and what these give next, where 2 told whole values."""


class Edits(Tokenizer):
    """Another tokenizer, but that a step is asked and answered in short: the answer is written as an edit of
    the state before, and the prompt repeats, as it repeats the line, the values of the variables that the
    line names (`deskcheck.notation.edits`) and tells the lines that may follow (`following`): what a machine
    can look up a model need not. All texts are as they were: prompts go in, answers come out as whole
    states."""

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
    """The number before a line of a program; 0 without one."""
    number, bar, _ = line.partition("|")
    return int(number) if bar else 0


def pieces(text: str) -> list[str]:
    """A text taken apart: names and keywords, runs of punctuation with the blanks around them, line ends with
    the indent that follows, single digits, and everything else byte by byte (those left out here)."""
    matches = _PIECES.findall(text.encode("utf-8", "surrogatepass"))
    return [piece.decode("ascii") for piece in matches if piece.isascii()]


_PIECES = re.compile(rb"[A-Za-z_]+| ?[!-/:-@\[-^`{-~]+ *|\n+ *| +|.", re.DOTALL)


class Pretrained(Tokenizer):
    """A fast tokenizer of Hugging Face's, from a local folder or by its name on the hub.

    Texts are taken for texts: what looks like a special token is written out as any other.

    Raises:
        InputError: there is none of that name; it is not a fast one; it has no token that ends a text; it
            cannot write a program down so that the same comes back.
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
            raise InputError(f"tokenizer {name!r}: is not a fast one; those alone are read.")
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
        """The tokens before every text of a model."""
        if wrong := self.wrong([_EVERYTHING], self.encode_all([_EVERYTHING]))[0]:
            raise InputError(f"tokenizer {name!r}: {wrong}. Choose one that keeps every character.")

    def encode(self, text: str) -> list[int]:
        return self.encode_all([text])[0]

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        """The same of many texts, each by itself, on all cores."""
        return [
            encoding.ids for encoding in self._backend.encode_batch(list(texts), add_special_tokens=False)
        ]

    def decode(self, tokens: Sequence[int]) -> str:
        text: str = self._backend.decode(list(tokens), skip_special_tokens=True)
        return text

    def wrong(self, texts: Sequence[str], tokens: Sequence[Sequence[int]]) -> list[str | None]:
        """For each text and its tokens, why they do not say the same; None where they do."""
        reasons: list[str | None] = []
        back = self._backend.decode_batch([list(numbers) for numbers in tokens], skip_special_tokens=False)
        for text, numbers, again in zip(texts, tokens, back, strict=True):
            if self.unknown is not None and self.unknown in numbers:
                reasons.append("it has no token for some of the text")
            elif again != text:
                at = next(
                    (at for at, (a, b) in enumerate(zip(text, again, strict=False)) if a != b), len(again)
                )
                reasons.append(f"{text[at : at + 10]!r} comes back as {again[at : at + 10]!r}")
            else:
                reasons.append(None)
        return reasons


_EVERYTHING = "1|def f(n):\n2|\treturn 'A  b'\n\nf 2: n=12\n+1\n" + "".join(map(chr, range(33, 127)))
"""What programs and states are made of."""


AnyTokenizer = Bytes | Pretrained
"""Those that lessons are counted with."""


def open_tokenizer(name: str) -> AnyTokenizer:
    """The tokenizer of that name: ``bytes``, or a Hugging Face one (see `Pretrained`)."""
    return Bytes() if name == "bytes" else Pretrained(name)


def _turned(text: str) -> str:
    """A text with every run of digits reversed."""
    parts = _DIGITS.split(text)  # text, digits, text, ...: twice as quick as a function for each match
    parts[1::2] = [digits[::-1] for digits in parts[1::2]]
    return "".join(parts)
