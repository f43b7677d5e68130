"""A model of the level `alone` that programs are stepped with: whole states go in, whole states come out.

What the model is given is the program and the state, in words; what it wrote before the answer proper is
dropped. Words are written greedily, of many programs at once. Needs torch (the extra ``[teach]``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import torch
from torch import Tensor

from deskcheck.errors import InputError
from deskcheck.notation.edits import edited
from deskcheck.notation.layout import asked_state, program_code
from deskcheck.teach.small.interpreter import StepAnswer
from deskcheck.teach.small.model import Context
from deskcheck_levels.alone import network
from deskcheck_levels.alone.lessons import LONGEST, numbers
from deskcheck_levels.alone.network import AloneModel
from deskcheck_levels.alone.text import AloneProgram, edit_text, read_program, read_state, state_words
from deskcheck_levels.alone.words import FILE, NUMBER, WORDS, Words
from deskcheck_levels.machine.frames import OutsideLanguage

_STOP = NUMBER["stop"]


@dataclass(frozen=True, slots=True)
class Worked:
    """What a model wrote to a state. words: all; ended: with the word that ends an answer; nll: the sum of
    their negative log probabilities, in nats."""

    words: Words
    ended: bool
    nll: float


class AloneRows:
    """Programs that a model has read, one a row, as `interpreter.Rows`."""

    def __init__(self, model: AloneModel, codes: Sequence[str], longest: int) -> None:
        self.model, self.longest = model, min(longest, 2 * LONGEST)
        self.programs: list[AloneProgram | str] = [_read(code) for code in codes]
        """Why one is outside of the language, in place of it."""
        self.contexts: list[_Kept | None] = [None] * len(codes)
        first: dict[str, int] = {}
        for row, code in enumerate(codes):
            if not isinstance(self.programs[row], str):
                first.setdefault(code, row)
        known = list(first.values())
        for start in range(0, len(known), 16):
            self._read(known[start : start + 16])
        for row, code in enumerate(codes):  # equal programs are read once
            self.contexts[row] = self.contexts[first[code]] if code in first else None

    @torch.inference_mode()
    def _read(self, rows: Sequence[int]) -> None:
        texts = [
            numbers(program.words()) for row in rows if not isinstance(program := self.programs[row], str)
        ]
        tokens = torch.zeros(len(rows), max(map(len, texts)), dtype=torch.long)
        for number, text in enumerate(texts):
            tokens[number, : len(text)] = torch.tensor(text)
        context = self.model.read(tokens, torch.tensor([len(text) for text in texts]))
        for number, (row, text) in enumerate(zip(rows, texts, strict=True)):
            self.contexts[row] = (
                [keys[number, :, : len(text)].clone() for keys in context.keys],
                [values[number, :, : len(text)].clone() for values in context.values],
            )

    def __len__(self) -> int:
        return len(self.programs)

    def keep(self, rows: Sequence[int]) -> None:
        """As `Rows.keep`."""
        self.programs = [self.programs[row] for row in rows]
        self.contexts = [self.contexts[row] for row in rows]

    def add(self, other: "AloneRows") -> None:
        """As `Rows.add`."""
        self.programs += other.programs
        self.contexts += other.contexts

    def ask(self, asked: Mapping[int, tuple[str, str]]) -> dict[int, StepAnswer]:
        """As `Rows.ask`; the guesses are not used."""
        found, states = {}, {}
        for row, (prompt, _) in asked.items():
            state = asked_state(prompt) or ""
            try:
                self.words_of(row, state)
                states[row] = state
            except OutsideLanguage as error:
                text = f"outside of what the model is taught: {error}"
                found[row] = StepAnswer(text, True, 0, None, 0)
        for row, worked in self.work(states).items():
            program = self.programs[row]
            assert not isinstance(program, str)
            try:
                text = edited(states[row], edit_text(program, worked.words))
            except ValueError as error:
                text = f"no answer: {error}"
            count = len(worked.words)
            found[row] = StepAnswer(text, worked.ended, count, worked.nll, count)
        return found

    def exact(self, rows: Sequence[int], texts: Sequence[tuple[str, str]]) -> list[bool]:
        """As `Rows.exact`: whether the state that is told is this one, however it was worked out."""
        given = AloneRows(self.model, [], self.longest)
        given.programs = [self.programs[row] for row in rows]
        given.contexts = [self.contexts[row] for row in rows]
        found = given.ask(dict(enumerate(texts)))
        return [found[row].ended and found[row].text == text for row, (_, text) in enumerate(texts)]

    def words_of(self, row: int, state: str) -> Words:
        """What the model is given of a state. Raises OutsideLanguage."""
        program = self.programs[row]
        if isinstance(program, str):
            raise OutsideLanguage(program)
        return state_words(program, read_state(state))

    @torch.inference_mode()
    def work(self, states: Mapping[int, str]) -> dict[int, Worked]:
        """What the model writes to states, with the working. states: by row, each of the language."""
        if not states:
            return {}
        texts = [numbers(self.words_of(row, state)) for row, state in states.items()]
        kept = [kept for row in states if (kept := self.contexts[row]) is not None]
        given = [len(text) for text in texts]
        most = max(given) + self.longest
        context = _stacked(kept, most)
        before = torch.full((len(texts), max(given)), -1)
        tokens = torch.zeros(len(texts), max(given), dtype=torch.long)
        for row, text in enumerate(texts):
            tokens[row, : len(text)] = torch.tensor(text)
            before[row, max(given) - len(text) :] = torch.tensor(text)
        known, new = self.model(tokens, context)
        rows = torch.arange(len(texts))
        logits = self.model.logits(known[rows, torch.tensor(given) - 1])
        context = _grown(context, new, given)
        written: list[list[int]] = [[] for _ in texts]
        nll = [0.0] * len(texts)
        active = list(range(len(texts)))
        for _ in range(self.longest):
            sure, best = torch.log_softmax(logits.float(), -1).max(-1)
            for place, row in enumerate(active):
                written[row].append(int(best[place]))
                nll[row] -= float(sure[place])
            going = [place for place, row in enumerate(active) if written[row][-1] != _STOP]
            if not going:
                break
            if len(going) < len(active):
                chosen = torch.tensor(going)
                context, before, best = context.of(chosen), before[chosen], best[chosen]
                active = [active[place] for place in going]
            known, new = self.model(best[:, None], context, before)
            context = _grown(context, new, [1] * len(active))
            before = torch.cat([before, best[:, None]], 1)
            logits = self.model.logits(known[:, 0])
        return {
            row: Worked([WORDS[word] for word in words], words[-1] == _STOP, one)
            for row, words, one in zip(states, written, nll, strict=True)
        }


_Kept: TypeAlias = tuple[list[Tensor], list[Tensor]]
"""Keys and values of a program's words, a layer each, [heads, length, width of a head]."""


def _read(code: str) -> AloneProgram | str:
    try:
        return read_program(code)
    except OutsideLanguage as error:
        return str(error)


def _stacked(kept: Sequence[_Kept], more: int) -> Context:
    """The contexts of rows as one, with room for so many words more."""
    lengths = [one[0][0].shape[1] for one in kept]

    def stacked(layer: int, which: int) -> Tensor:
        heads, _, width = kept[0][which][layer].shape
        made = torch.zeros(len(kept), heads, max(lengths) + more, width)
        for row, one in enumerate(kept):
            made[row, :, : lengths[row]] = one[which][layer]
        return made

    layers = range(len(kept[0][0]))
    return Context(
        tuple([stacked(layer, 0) for layer in layers]),
        tuple([stacked(layer, 1) for layer in layers]),
        torch.tensor(lengths),
    )


def _grown(context: Context, new: Context, counts: Sequence[int]) -> Context:
    """A context with the first words of new ones behind it, so many of each row."""
    for row, (start, count) in enumerate(zip(context.lengths.tolist(), counts, strict=True)):
        for layer, keys in enumerate(new.keys):
            context.keys[layer][row, :, start : start + count] = keys[row, :, :count]
            context.values[layer][row, :, start : start + count] = new.values[layer][row, :, :count]
    return Context(context.keys, context.values, context.lengths + torch.tensor(list(counts)))


class AloneModels:
    """The model of a folder, as `interpreter.StepModel`."""

    def __init__(self, folder: Path) -> None:
        self.model, self.about = network.load(folder / FILE)

    def read(self, programs: Sequence[str], longest: int = 2048) -> AloneRows:
        """As `StepModel.read`."""
        return AloneRows(self.model, [program_code(text) for text in programs], longest)

    def refuse_untaught(self, notation: str, jumps: Sequence[int] = ()) -> None:
        """As `StepModel.refuse_untaught`."""
        if notation != "dynamic" or set(jumps) - {1}:
            raise InputError(
                "the model was taught the notation dynamic, one event at a time: ask it for no other "
                "notation and no other jump."
            )
