"""Normalisers of the user's own: a file of regular expressions, in the form of nbval's.

    [time of day]
    regex: [0-9]{2}:[0-9]{2}
    replace: TIME

Not covered: nbval takes the file's sections for comments; here they name the rules.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from deskcheck.errors import InputError
from deskcheck.files import read_text
from deskcheck.notebook.check.normalise import Normaliser


@dataclass(frozen=True, slots=True)
class Replacement:
    """A rule: each match of `regex`, in the syntax of `re`, becomes `replace`."""

    regex: str
    replace: str

    def __call__(self, text: str) -> str:
        return re.sub(self.regex, self.replace, text)


def sanitiser(name: str, regex: str, replace: str) -> Normaliser:
    """A normaliser from a regular expression and its replacement."""
    return Normaliser(name, Replacement(regex, replace))


def read_sanitisers(path: Path) -> tuple[Normaliser, ...]:
    """The rules of a file, in order, named ``sanitize: SECTION``. Raises InputError that names the line."""
    try:
        lines = read_text(path).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}.") from error
    rules: list[Normaliser] = []
    section, regex, regex_line = "", None, 0
    for number, line in enumerate([*lines, "regex:"], start=1):
        key, colon, value = line.partition(":")
        value = value.removeprefix(" ")
        if re.fullmatch(r"\[.*\]", line.strip()):
            section = line.strip()[1:-1]
        elif colon and key == "regex":
            if regex is not None:
                raise InputError(f"{path}, line {regex_line}: 'regex:' without 'replace:' in the line after.")
            regex, regex_line = value, number
        elif colon and key == "replace":
            if regex is None:
                raise InputError(f"{path}, line {number}: 'replace:' without 'regex:' in the line before.")
            _try(path, number, regex, value)
            name = f"sanitize: {section or f'line {regex_line}'}"
            while any(rule.name == name for rule in rules):
                name += "'"
            rules.append(sanitiser(name, regex, value))
            regex = None
    if not rules:
        raise InputError(f"{path}: has no rules: write 'regex: ...' and, below it, 'replace: ...'.")
    return tuple(rules)


def _try(path: Path, line: int, regex: str, replace: str) -> None:
    """Raise InputError for a rule that cannot be used."""
    try:
        re.sub(regex, replace, "")
    except (re.error, IndexError) as error:
        raise InputError(f"{path}, line {line}: cannot be used as a rule: {error}.") from error
