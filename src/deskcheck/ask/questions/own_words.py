"""Prompts in the user's own words: a text with places for the parts of a question."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from deskcheck.ask.questions.settings import Sampling
from deskcheck.ask.samples.prompts import YOURS
from deskcheck.ask.samples.sample import Sample
from deskcheck.errors import InputError
from deskcheck.fences import FENCED
from deskcheck.files import read_text

_PLACE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_LABEL = re.compile(r"^([A-Z][\w ]*):(?: |$)", re.MULTILINE)
_NUMBER = re.compile(r" *\d+ \| ?")
_KIND = re.compile(r"(\w+)=(.+)", re.DOTALL)


def own_words(sampling: Sampling, questions: Sequence[str]) -> dict[str, str]:
    """Kind of question -> the text of its file (`Sampling.prompt`), for kinds that have one.

    Raises InputError: a file cannot be read or has no fields, a kind is not asked, or examples are wanted,
    too.
    """
    if sampling.prompt and sampling.shots is not None:
        raise InputError("--prompt and --shots exclude each other: the file has its own examples.")
    text_of: dict[str, str] = {}
    for word in sampling.prompt:
        named = _KIND.fullmatch(word)
        if named and named[1] not in questions:
            raise InputError(
                f"--prompt {word}: {named[1]} is not one of the questions: {', '.join(questions)}."
            )
        path = Path(named[2] if named else word)
        try:
            text = read_text(path)
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"--prompt {path}: {getattr(error, 'strerror', None) or 'is not UTF-8'}"
            ) from error
        if not _PLACE.search(text):
            raise InputError(
                f"--prompt {path}: has no place for a question. Write {{{{code}}}}, {{{{call}}}} or "
                "{{question}} with two braces where it goes."
            )
        text_of |= dict.fromkeys([named[1]] if named else questions, text)
    return text_of


def in_own_words(samples: Sequence[Sample], template: str) -> list[Sample]:
    """The samples with the text as their prompt. Its fields are filled: ``{{code}}`` with the program,
    ``{{program}}``, ``{{question}}`` and ``{{task}}`` with these parts of deskcheck's prompt, and each line
    of the question by its label, such as ``{{call}}`` or ``{{about_to_run}}``. The strict score of their
    answers also takes a whole assertion, as CRUXEval's prompts ask for it.

    Raises InputError: a question does not have a field of the text.
    """
    return [
        replace(sample, parts={"own": _filled(template, sample)}, data={**sample.data, "own_words": True})
        for sample in samples
    ]


def _filled(template: str, sample: Sample) -> str:
    fields = fields_of(sample)

    def fill(match: re.Match[str]) -> str:
        if match[1] not in fields:
            raise InputError(f"--prompt: {sample.id} has no {{{{{match[1]}}}}}. It has {', '.join(fields)}.")
        return fields[match[1]]

    return _PLACE.sub(fill, template).rstrip("\n")


def fields_of(sample: Sample) -> dict[str, str]:
    """The fields that a template may name."""
    parts = {
        name: text.removeprefix(f"{YOURS}\n\n") for name, text in sample.parts.items() if name != "example"
    }
    codes = [_without_numbers(block["text"]) for block in FENCED.finditer(parts.get("program", ""))]
    fields = parts | ({"code": "\n\n".join(codes)} if codes else {})
    question = parts.get("question", "")
    labels = [*_LABEL.finditer(question)]
    for label, following in zip(labels, [*labels[1:], None], strict=True):
        name = label[1].lower().replace(" ", "_")
        text = question[label.end() : following.start() if following else None]
        fields.setdefault(name, text.strip("\n"))
    return fields


def _without_numbers(code: str) -> str:
    lines = code.split("\n")
    if all(map(_NUMBER.match, lines)):
        lines = [_NUMBER.sub("", line) for line in lines]
    return "\n".join(lines)
