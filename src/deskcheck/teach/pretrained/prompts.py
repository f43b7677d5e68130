"""Prompts for one step as the tokens of a Hugging Face model, and its answers as text.

Without an explanation, a prompt has the tokens of lessons. With one, it is the prompt of `deskcheck ask`: an
explanation of the notation before it, and the model's chat template around it, if it has one.
"""

from collections.abc import Sequence
from typing import Any

from deskcheck.ask.methods.solvers import state_said
from deskcheck.notation import state_text
from deskcheck.notation.forms.explained import EXPLAINED
from deskcheck.recording import InputError
from deskcheck.teach.lessons.tokens import Pretrained
from deskcheck.teach.small.interpreter import common


class StepPrompts:
    """The prompts for a model. explain: the model was not taught the notation.

    Raises InputError if its tokenizer cannot be used (`Pretrained`).
    """

    def __init__(self, name: str, *, explain: bool) -> None:
        from transformers import AutoTokenizer

        self.tokenizer = Pretrained(name)
        self.explain = explain
        chat_tokenizer = AutoTokenizer.from_pretrained(name) if explain else None
        self.chat: Any = (
            chat_tokenizer if chat_tokenizer is not None and chat_tokenizer.chat_template else None
        )

    def tokens(self, program: str, prompt: str) -> list[int]:
        """All tokens before the answer. program: the text by `program_text`."""
        if not self.explain:
            return [*self.tokenizer.begin, *self.tokenizer.encode(program + prompt)]
        text = explained(program, prompt)
        if self.chat is None:
            return [*self.tokenizer.begin, *self.tokenizer.encode(text)]
        templated = self.chat.apply_chat_template(
            [{"role": "user", "content": text}], add_generation_prompt=True, return_dict=True
        )
        return list(templated["input_ids"])

    def shared(self, program: str) -> list[int]:
        """The tokens that all prompts about a program begin with."""
        return common(self.tokens(program, "f 1\n+1\n"), self.tokens(program, "globals: x=1\n+1\n"))

    def answer(self, before: Sequence[int], written: Sequence[int]) -> str:
        """The text of an answer, without the token that ends it."""
        # Tokenizers that mark a text's beginning write a blank there: only behind the prompt it is none.
        decode = self.tokenizer.decode
        text = decode([*before, *written]).removeprefix(decode(before))
        return plain(text) if self.explain else text


def explained(program: str, prompt: str) -> str:
    """A prompt for a model that was not taught the notation."""
    return EXPLAINED["dynamic"] + program + prompt


def plain(text: str) -> str:
    """The state in an answer, without the words and the code fence around it. Without a state: the answer."""
    read = state_said(text)
    return text if isinstance(read, str) else state_text(read)


def refuse_explained(notation: str, jumps: Sequence[int]) -> None:
    """Raise InputError for a notation or jumps that the explanation does not know."""
    if notation != "dynamic":
        raise InputError(
            f"--explain: explains the notation dynamic, not {notation}: leave it out, or ask by "
            "`deskcheck ask --method dynamic_instruction`."
        )
    if list(jumps) != [1]:
        raise InputError("--jump: is for models that were taught jumps: leave it out, or --explain.")
