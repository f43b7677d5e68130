"""A model asked for many next states at once: the program of each row is read once and kept, and what is
likely to be the same as before is guessed and checked rather than written token by token.

The guess is the state before, since most of a state stays as it is; of a model that answers in edits, its
last answer at the same line (decoding with a draft from the prompt:
Leviathan et al. 2023, arXiv:2211.17192; Saxena 2023, "prompt lookup decoding"). What comes out is what greedy
decoding gives: a guess counts only where the model's most likely token is the guessed one.

Needs numpy, and a `Network`: of `networks` with torch, or `runtime` with ONNX Runtime.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deskcheck.notation.layout import asked_state
from deskcheck.teach.lessons.tokens import Edits, Tokenizer

Numbers = NDArray[np.int64]
Floats = NDArray[Any]
"""Of the network's own precision."""

_GUESS = 24
"""Tokens that are guessed at a time."""
_FIND = 4
"""So many tokens must agree for the guess to go on from another place."""
_LONGER, _AT_LEAST = 4, 200
"""A state ends at so many times the length of its prompt, and so many tokens: a model that has lost its way
writes for ever."""
_AT_ONCE = 1024
"""Tokens that the network runs over at a time, filled up ones counted: more are no faster on a processor."""
_SEEN_MOST = 200_000
"""Places of earlier answers that are remembered; then it begins anew."""


class Network(Protocol):
    """A causal language model with its keys and values outside of it."""

    layers: int
    heads: int
    head: int
    """Width of a head."""
    dtype: np.dtype[Any]
    """Of keys and values."""
    shift_tokens: int
    """So many tokens before those that it runs over it wants to see, too."""

    def run(
        self, tokens: Numbers, keys: Sequence[Floats], values: Sequence[Floats], lengths: Numbers
    ) -> tuple[NDArray[np.float32], Sequence[Floats], Sequence[Floats]]:
        """tokens: [rows, shift + length], -1 where none stands before; keys, values: a layer each, [rows,
        heads, size, head], of which the first `lengths` [rows] count. Log probabilities of the token after
        each, [rows, length, vocabulary], and the keys and values of these tokens, [rows, heads, length,
        head]. Positions go on from `lengths`."""
        ...


@dataclass(frozen=True, slots=True)
class StepAnswer:
    """What a model gave. ended: with the token that ends an answer; false: it came to the longest that is
    allowed. tokens: how many there are, and nll: the sum of their negative log probabilities in nats, None
    where nobody tells; passes: how often the network ran for it."""

    text: str
    ended: bool
    tokens: int
    nll: float | None
    passes: int


class Rows(Protocol):
    """Programs that a model is asked about, one a row."""

    def __len__(self) -> int: ...

    def keep(self, rows: Sequence[int]) -> None:
        """Drops all rows but these, which are numbered anew in this order."""

    def add(self, other: Any) -> None:
        """Takes the rows of another of its kind in, behind its own."""

    def ask(self, asked: Mapping[int, tuple[str, str]]) -> dict[int, StepAnswer]:
        """Greedy answers. asked: row -> (prompt, a guess at the answer)."""

    def exact(self, rows: Sequence[int], texts: Sequence[tuple[str, str]]) -> list[bool]:
        """Of each (prompt, answer) about the program of its row: whether greedy decoding gives exactly this
        answer."""


class StepModel(Protocol):
    """A model that programs can be stepped with."""

    def read(self, programs: Sequence[str], longest: int) -> Rows:
        """The texts of programs (`program_text`), ready to be asked about. longest: tokens of a prompt with
        its answer."""

    def refuse_untaught(self, notation: str, jumps: Sequence[int] = ()) -> None:
        """Raise InputError for a notation, or jumps, that the model cannot be asked in."""


class ModelRows:
    """Programs that a model has read, one a row, and can be asked about again and again.

    longest: tokens of a prompt with its answer; a state that gets much longer than its prompt ends earlier.
    """

    def __init__(
        self, network: Network, tokenizer: Tokenizer, prefixes: Sequence[str], longest: int = 2048
    ) -> None:
        self.network = network
        self.tokenizer = tokenizer
        self.longest = longest
        self.seen = Seen()
        self.edits = isinstance(tokenizer, Edits)
        self.texts = list(prefixes)
        programs = [tokenizer.encode(prefix) for prefix in prefixes]
        self.programs = np.array([len(program) for program in programs], dtype=np.int64)
        shift = network.shift_tokens
        self.ends = np.full((len(programs), shift), -1, dtype=np.int64)
        """The last tokens of each program."""
        for row, program in enumerate(programs):
            self.ends[row] = _last(program, shift)
        size = int(self.programs.max(initial=0))
        self.keys = self._empty(len(programs), size)
        self.values = self._empty(len(programs), size)
        # Equal programs are read once.
        first: dict[tuple[int, ...], int] = {}
        for row, program in enumerate(programs):
            first.setdefault(tuple(program), row)
        for start in range(0, len(first), 16):
            some = list(first.items())[start : start + 16]
            width = max(len(text) for text, _ in some)
            tokens = np.zeros((len(some), shift + width), dtype=np.int64)
            tokens[:, :shift] = -1
            for number, (text, _) in enumerate(some):
                tokens[number, shift : shift + len(text)] = text
            nothing = self._empty(len(some), 0)
            _, keys, values = self.network.run(tokens, nothing, nothing, np.zeros(len(some), dtype=np.int64))
            for number, (_, row) in enumerate(some):
                for layer in range(network.layers):
                    self.keys[layer][row, :, :width] = keys[layer][number]
                    self.values[layer][row, :, :width] = values[layer][number]
        for row, program in enumerate(programs):
            known = first[tuple(program)]
            if known != row:
                for layer in range(network.layers):
                    self.keys[layer][row] = self.keys[layer][known]
                    self.values[layer][row] = self.values[layer][known]

    def _empty(self, rows: int, size: int) -> list[Floats]:
        shape = (rows, self.network.heads, size, self.network.head)
        return [np.zeros(shape, dtype=self.network.dtype) for _ in range(self.network.layers)]

    def __len__(self) -> int:
        return len(self.programs)

    def keep(self, rows: Sequence[int]) -> None:
        """Drops all rows but these, which are numbered anew in this order."""
        self.texts = [self.texts[row] for row in rows]
        self.programs, self.ends = self.programs[list(rows)], self.ends[list(rows)]
        size = int(self.programs.max(initial=0))
        self.keys = [k[list(rows), :, :size] for k in self.keys]
        self.values = [v[list(rows), :, :size] for v in self.values]

    def add(self, other: "ModelRows") -> None:
        """Takes the rows of another in, behind its own."""
        size = max(self.keys[0].shape[2], other.keys[0].shape[2])
        self.keys = [
            np.concatenate([_wide(a, size), _wide(b, size)])
            for a, b in zip(self.keys, other.keys, strict=True)
        ]
        self.values = [
            np.concatenate([_wide(a, size), _wide(b, size)])
            for a, b in zip(self.values, other.values, strict=True)
        ]
        self.programs = np.concatenate([self.programs, other.programs])
        self.ends = np.concatenate([self.ends, other.ends])
        self.texts += other.texts

    def log_probabilities(
        self, rows: Sequence[int], texts: Sequence[tuple[str, str]]
    ) -> list[tuple[bool, float]]:
        """Of each (prompt, answer) about the program of its row: whether greedy decoding would give exactly
        this answer, and the sum of its tokens' log probabilities. One pass over all."""
        pairs = [
            (
                self.tokenizer.encode_prompt(prompt, self.texts[row]),
                [*self.tokenizer.encode_answer(prompt, answer), self.tokenizer.end],
            )
            for row, (prompt, answer) in zip(rows, texts, strict=True)
        ]
        width = max(len(prompt) + len(answer) for prompt, answer in pairs) - 1
        chosen, shift = list(rows), self.network.shift_tokens
        tokens = np.zeros((len(pairs), shift + width), dtype=np.int64)
        tokens[:, :shift] = self.ends[chosen]
        for number, (prompt, answer) in enumerate(pairs):
            tokens[number, shift : shift + len(prompt) + len(answer) - 1] = [*prompt, *answer][:-1]
        logs, _, _ = self.network.run(
            tokens, [k[chosen] for k in self.keys], [v[chosen] for v in self.values], self.programs[chosen]
        )
        found = []
        for number, (prompt, answer) in enumerate(pairs):
            mine = logs[number, len(prompt) - 1 : len(prompt) + len(answer) - 1]
            wanted = np.array(answer)
            sure = mine[np.arange(len(answer)), wanted]
            found.append((bool((mine.argmax(-1) == wanted).all()), float(sure.sum())))
        return found

    def exact(self, rows: Sequence[int], texts: Sequence[tuple[str, str]]) -> list[bool]:
        """As `Rows.exact`, in one pass over all."""
        return [exact for exact, _ in self.log_probabilities(rows, texts)]

    def ask(self, asked: Mapping[int, tuple[str, str]]) -> dict[int, StepAnswer]:
        """As `Rows.ask`."""
        rows = list(asked)
        writing = []
        for row, (prompt, guess) in asked.items():
            state = asked_state(prompt)
            question = prompt.removeprefix(state or "")
            draft = self.seen.answers.get(question) if self.edits else None
            if draft is None:
                draft = [*self.tokenizer.encode_answer(prompt, guess), self.tokenizer.end]
            pending = self.tokenizer.encode_prompt(prompt, self.texts[row])
            most = most_tokens(len(pending), self.longest, whole=state is None)
            writing.append(Writing(pending, draft, question, self.seen, most))
        end = self.tokenizer.end
        room = self.keys[0].shape[2] + max(len(w.pending) for w in writing) + 2 * _GUESS
        keys = [_wide(k[rows], room) for k in self.keys]
        values = [_wide(v[rows], room) for v in self.values]
        lengths = self.programs[rows]
        shift, before = self.network.shift_tokens, self.ends[rows]
        active = list(range(len(rows)))
        while active:
            feeds = {number: [*writing[number].pending, *writing[number].guess()] for number in active}
            for some in alike(feeds, _AT_ONCE):
                width, size = max(len(feeds[number]) for number in some), int(lengths[some].max())
                tokens = np.zeros((len(some), shift + width), dtype=np.int64)
                tokens[:, :shift] = before[some]
                for place, number in enumerate(some):
                    tokens[place, shift : shift + len(feeds[number])] = feeds[number]
                logs, new_keys, new_values = self.network.run(
                    tokens,
                    [k[some, :, :size] for k in keys],
                    [v[some, :, :size] for v in values],
                    lengths[some],
                )
                best, sure = logs.argmax(-1), logs.max(-1)
                for place, number in enumerate(some):
                    w, feed, at = writing[number], feeds[number], int(lengths[number])
                    start = len(w.pending) - 1
                    count = w.take(best[place, start : len(feed)], sure[place, start:], end)
                    if at + count + _GUESS > keys[0].shape[2]:
                        keys = [_wide(k, at + count + 4 * _GUESS) for k in keys]
                        values = [_wide(v, at + count + 4 * _GUESS) for v in values]
                    for layer in range(self.network.layers):
                        keys[layer][number, :, at : at + count] = new_keys[layer][place][:, :count]
                        values[layer][number, :, at : at + count] = new_values[layer][place][:, :count]
                    lengths[number] += count
                    before[number] = _last([*before[number], *feed[:count]], shift)
            active = [
                number
                for number in active
                if not writing[number].ended and writing[number].size < writing[number].most
            ]
        return {
            row: StepAnswer(
                self.tokenizer.decode_answer(asked[row][0], w.written),
                w.ended,
                len(w.written),
                w.nll,
                w.passes,
            )
            for row, w in zip(rows, writing, strict=True)
        }


def alike(feeds: Mapping[int, Sequence[int]], at_once: int) -> Iterator[list[int]]:
    """Rows that are run over together: those whose tokens are about as many, so that little is filled up; so
    many tokens at a time, filled up ones counted, or one row."""
    some: list[int] = []
    for number in sorted(feeds, key=lambda number: len(feeds[number])):
        if some and (len(some) + 1) * len(feeds[number]) > at_once:
            yield some
            some = []
        some.append(number)
    yield some


def most_tokens(prompt: int, longest: int, *, whole: bool) -> int:
    """Tokens that a prompt of so many may come to with its answer. whole: it asks for a whole trace, of which
    nothing says how long it gets."""
    return longest if whole else min((1 + _LONGER) * prompt + _AT_LEAST, longest)


class Seen:
    """What was written before, by what precedes it: states of a program resemble one another."""

    def __init__(self) -> None:
        self.places: dict[tuple[int, ...], tuple[list[int], int]] = {}
        self.answers: dict[str, list[int]] = {}
        """By what was asked of a state."""

    def add(self, question: str, written: list[int]) -> None:
        """Remembers an answer; of equal places the latest counts."""
        if len(self.places) > _SEEN_MOST:
            self.places.clear()
            self.answers.clear()
        self.answers[question] = written
        for at in range(_FIND, len(written)):
            self.places[tuple(written[at - _FIND : at])] = written, at

    def after(self, written: list[int]) -> tuple[list[int], int] | None:
        """Tokens, and from where they went on after what this ends with."""
        return self.places.get(tuple(written[-_FIND:]))


class Writing:
    """One answer while it is written. pending: tokens that the network has not run over yet; the last of them
    is the one whose successor is wanted. old: the guess that was given; source, at: what is guessed from, and
    how far it has been used."""

    def __init__(self, prompt: list[int], old: list[int], question: str, seen: Seen, most: int) -> None:
        self.pending = prompt
        self.question = question
        self.old = old
        self.seen = seen
        self.source, self.at = old, 0
        self.guessed: list[int] = []
        self.written: list[int] = []
        self.ended = False
        self.nll = 0.0
        self.passes = 0
        self.size = len(prompt)
        self.most = most

    def guess(self) -> list[int]:
        self.guessed = self.source[self.at : self.at + _GUESS]
        return self.guessed

    def take(self, best: NDArray[np.int64], sure: NDArray[np.float32], end: int) -> int:
        """Goes on with what the network found most likely after the last pending token and after each guessed
        one. sure: the log probability of each. How many of the tokens that it ran over stay."""
        self.passes += 1
        stay = len(self.pending)
        right = 0
        while True:
            token = int(best[right])
            self.nll -= float(sure[right])
            self.written.append(token)
            if token == end:
                self.ended = True
                self.seen.add(self.question, self.written)
                break
            if right == len(self.guessed) or token != self.guessed[right]:
                break
            right += 1
        self.pending = self.written[-1:]
        self.size += right + 1
        self.at += right + 1
        if self.source[self.at - 1 : self.at] != self.pending:
            self._find()
        return stay + right

    def _find(self) -> None:
        """Where the guess goes on after a token that was not guessed: where the state before has what was
        written last, or an earlier answer, else behind the token in whose place it stands."""
        last = self.written[-_FIND:]
        if len(last) < _FIND:
            return
        for at in range(len(self.old) - _FIND + 1):
            if self.old[at : at + _FIND] == last:
                self.source, self.at = self.old, at + _FIND
                return
        if found := self.seen.after(last):
            self.source, self.at = found


def _last(tokens: Sequence[int], count: int) -> list[int]:
    """The last of some tokens; -1 before the first."""
    return [*[-1] * (count - len(tokens)), *tokens[len(tokens) - min(count, len(tokens)) :]]


def _wide(x: Floats, size: int) -> Floats:
    """x: [rows, heads, length, head], with room for `size`."""
    if x.shape[2] >= size:
        return x
    made = np.zeros((*x.shape[:2], size, x.shape[3]), dtype=x.dtype)
    made[:, :, : x.shape[2]] = x
    return made
