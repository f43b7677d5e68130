"""Steps programs with a model of the level `alone`, from whole states to whole states.

The model receives the program and the state as words. The working before its answer is dropped. It writes
words greedily, for many programs at once. Needs torch (the extra ``[teach]``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor

from deskcheck.errors import InputError
from deskcheck.notation.edits import edited
from deskcheck.notation.layout import asked_state, program_code
from deskcheck.teach.small.interpreter import Rows, StepAnswer
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
    """The answer of a model to a state.

    words: the whole answer. ended: whether it has the word that ends an answer. nll: sum of the words'
    negative log probabilities in nats.
    """

    words: Words
    ended: bool
    nll: float


class KnownProgram(NamedTuple):
    """A program that a model has read, or the reason why it is outside of the language."""

    program: AloneProgram | str
    context: "_Kept | None" = None


class AloneRows(Rows):
    """Programs that a model has read. Guesses are ignored.

    `exact` compares only the state of an answer, not its working.
    """

    programs: list[KnownProgram]

    def __init__(self, model: AloneModel, codes: Sequence[str], longest: int) -> None:
        self.model, self.longest = model, min(longest, 2 * LONGEST)
        by_code = {
            code: KnownProgram(_read(code)) for code in dict.fromkeys(codes)
        }  # equal programs are read once
        readable = [code for code in by_code if not isinstance(by_code[code].program, str)]
        for start in range(0, len(readable), 16):
            codes_read = readable[start : start + 16]
            by_code |= dict(zip(codes_read, self._read([by_code[code] for code in codes_read]), strict=True))
        self.programs = [by_code[code] for code in codes]

    @torch.inference_mode()
    def _read(self, programs: Sequence[KnownProgram]) -> list[KnownProgram]:
        texts = [
            numbers(program.program.words()) for program in programs if not isinstance(program.program, str)
        ]
        tokens = torch.zeros(len(texts), max(map(len, texts)), dtype=torch.long)
        for number, text in enumerate(texts):
            tokens[number, : len(text)] = torch.tensor(text)
        context = self.model.read(tokens, torch.tensor([len(text) for text in texts]))
        return [
            KnownProgram(
                program.program,
                (
                    [keys[number, :, : len(text)].clone() for keys in context.keys],
                    [values[number, :, : len(text)].clone() for values in context.values],
                ),
            )
            for number, (program, text) in enumerate(zip(programs, texts, strict=True))
        ]

    def answers(self, questions: Sequence[tuple[KnownProgram, str, str]]) -> list[StepAnswer]:
        """As `Rows.answers`."""
        answers: dict[int, StepAnswer] = {}
        readable: dict[int, tuple[KnownProgram, str]] = {}
        for number, (program, prompt, _) in enumerate(questions):
            state = asked_state(prompt) or ""
            try:
                words_of(program, state)
                readable[number] = program, state
            except OutsideLanguage as error:
                text = f"outside of what the model was taught: {error}"
                answers[number] = StepAnswer(text, True, 0, None, 0)
        for (number, (program, state)), worked in zip(
            readable.items(), self.work([*readable.values()]), strict=True
        ):
            assert not isinstance(program.program, str)
            try:
                text = edited(state, edit_text(program.program, worked.words))
            except ValueError as error:
                text = f"no answer: {error}"
            count = len(worked.words)
            answers[number] = StepAnswer(text, worked.ended, count, worked.nll, count)
        return [answers[number] for number in range(len(questions))]

    @torch.inference_mode()
    def work(self, states: Sequence[tuple[KnownProgram, str]]) -> list[Worked]:
        """The model's answers to states, with the working. states: pairs of a program and a state of it."""
        if not states:
            return []
        texts = [numbers(words_of(hidden, state)) for hidden, state in states]
        contexts = [hidden.context for hidden, _ in states if hidden.context is not None]
        sizes = [len(text) for text in texts]
        room = max(sizes) + self.longest
        context = _stacked(contexts, room)
        before = torch.full((len(texts), max(sizes)), -1)
        tokens = torch.zeros(len(texts), max(sizes), dtype=torch.long)
        for row, text in enumerate(texts):
            tokens[row, : len(text)] = torch.tensor(text)
            before[row, max(sizes) - len(text) :] = torch.tensor(text)
        hidden, new = self.model(tokens, context)
        rows = torch.arange(len(texts))
        logits = self.model.logits(hidden[rows, torch.tensor(sizes) - 1])
        context = _grown(context, new, sizes)
        written: list[list[int]] = [[] for _ in texts]
        nll = [0.0] * len(texts)
        active = list(range(len(texts)))
        for _ in range(self.longest):
            sure, best = torch.log_softmax(logits.float(), -1).max(-1)
            for index, row in enumerate(active):
                written[row].append(int(best[index]))
                nll[row] -= float(sure[index])
            going = [index for index, row in enumerate(active) if written[row][-1] != _STOP]
            if not going:
                break
            if len(going) < len(active):
                chosen = torch.tensor(going)
                context, before, best = context.of(chosen), before[chosen], best[chosen]
                active = [active[index] for index in going]
            hidden, new = self.model(best[:, None], context, before)
            context = _grown(context, new, [1] * len(active))
            before = torch.cat([before, best[:, None]], 1)
            logits = self.model.logits(hidden[:, 0])
        return [
            Worked([WORDS[word] for word in words], words[-1] == _STOP, total)
            for words, total in zip(written, nll, strict=True)
        ]


def words_of(program: KnownProgram, state: str) -> Words:
    """The words of a state, as the model sees it. Raises OutsideLanguage."""
    if isinstance(program.program, str):
        raise OutsideLanguage(program.program)
    return state_words(program.program, read_state(state))


_Kept: TypeAlias = tuple[list[Tensor], list[Tensor]]
"""Keys and values of a program's words, a layer each, [heads, length, width of a head]."""


def _read(code: str) -> AloneProgram | str:
    try:
        return read_program(code)
    except OutsideLanguage as error:
        return str(error)


def _stacked(contexts: Sequence[_Kept], more: int) -> Context:
    """The contexts of rows as one, with room for `more` words."""
    lengths = [kept_layers[0][0].shape[1] for kept_layers in contexts]

    def stacked(layer: int, which: int) -> Tensor:
        heads, _, width = contexts[0][which][layer].shape
        padded = torch.zeros(len(contexts), heads, max(lengths) + more, width)
        for row, kept_layers in enumerate(contexts):
            padded[row, :, : lengths[row]] = kept_layers[which][layer]
        return padded

    layers = range(len(contexts[0][0]))
    return Context(
        tuple([stacked(layer, 0) for layer in layers]),
        tuple([stacked(layer, 1) for layer in layers]),
        torch.tensor(lengths),
    )


def _grown(context: Context, new: Context, counts: Sequence[int]) -> Context:
    """A context with the first words of new ones behind it. counts: how many of each row."""
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

    step_notation: str | None = "dynamic"
    """See `StepModel.step_notation`."""

    def refuse_untaught(self, notation: str, jumps: Sequence[int] = ()) -> None:
        """As `StepModel.refuse_untaught`."""
        if notation != "dynamic" or set(jumps) - {1}:
            raise InputError(
                "the model was taught only the notation dynamic, one event at a time: leave out other "
                "notations and jumps."
            )
