"""Takes secrets out of steps before they are written, by the names of variables and the form of texts.

Masked text becomes `[masked]`; a masked value has ``"cut": "masked"``. A value that was seen under a secret
name is masked everywhere from then on, and so are values of the environment under such names. Not masked: a
secret under an ordinary name that looks like ordinary text, and one that a stream splits.
"""

import json
import os
import re
from collections.abc import Iterable
from typing import Any

from deskcheck.errors import InputError
from deskcheck.notebook.trajectory.trajectory import Cell, Execution, Step, from_dict, to_dict
from deskcheck.recording.secrets import MASKED, NAMES, is_place, secrets_of, stands_everywhere
from deskcheck.recording.value import reached

TEXTS = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    r"\b(AKIA|ASIA)[0-9A-Z]{16}\b",  # AWS
    r"\b(gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{30,}|glpat-[\w-]{16,})",  # GitHub, GitLab
    r"\bhf_[A-Za-z0-9]{20,}",  # Hugging Face
    r"\bsk-[\w-]{16,}",  # model providers
    r"\bxox[abeoprs]-[\w-]{10,}",  # Slack
    r"\bAIza[\w-]{30,}",  # Google
    r"\beyJ[\w-]{8,}+\.[\w-]{8,}+\.[\w-]*",  # JSON web tokens
    r"(?<=://)[^\s/:@'\"]+:[^\s/@'\"]+(?=@)",  # user:password@host
    r"(?<=[Bb]earer )[\w.~+/-]{12,}=*",
)
"""Built-in patterns for text."""

_NO_VALUES = frozenset({"kind", "type", "dtype", "names", "base", "cut", "method", "float"})
"""Parts of an encoded value that are not the user's values."""
_LITERAL = r'"(?:[^"\\\n]|\\.)*"|' + r"'(?:[^'\\\n]|\\.)*'"
# A name begins where its word does, and no part of a word is tried twice: else a long word, such as base64,
# takes time that grows with the square of its length.
_ASSIGNED = re.compile(
    r"(?<![\w-])(?P<before>[\d-]*+)(?P<name>[^\W\d][\w-]*+)"
    r"(?P<between>[\"']?\s*+(?:\]\s*+)?(?::\s*+\w++\s*+)?[=:]\s*+[A-Za-z]{0,2})"
    rf"(?P<value>{_LITERAL})"
)
"""``name = "..."``, ``name="..."``, ``"name": "..."``, ``environ["name"] = "..."``."""
_SHOWN = re.compile(r"(?<!\w)(?P<before>\d*+)(?P<name>[^\W\d]\w*+)(?P<between>=)(?P<value>[^\s'\"]+)")
"""``name=...``, as environments are shown; only in outputs."""


class Mask:
    """Masks the steps of one trajectory, in order.

    names, texts: further regular expressions, which ignore case.

    Raises InputError: one is not a regular expression.
    """

    def __init__(self, names: Iterable[str] = (), texts: Iterable[str] = ()) -> None:
        more = [*names]
        self._names = _compiled([*NAMES, *more], re.IGNORECASE)
        self._chosen_names = _compiled(more, re.IGNORECASE) if more else None
        """Names that the user chose. They are secret whatever their value."""
        self._texts = [
            *(_compiled([text], re.DOTALL) for text in TEXTS),
            *(_compiled([text], re.DOTALL | re.IGNORECASE) for text in texts),
        ]
        self._secrets: set[str] = set()
        chosen = {name: value for name, value in os.environ.items() if self._is_wanted(name)}
        for value in (chosen | secrets_of(os.environ)).values():
            self._know(value)
        self._any_secret: re.Pattern[str] | None = None

    @property
    def known(self) -> int:
        """Number of values that were seen under secret names."""
        return len(self._secrets)

    def step(self, step: Step) -> Step:
        """The step without secrets."""
        row = to_dict(step)
        state = row.pop("state", None)
        if state is not None:
            row["state"] = self.state(state)
        if "source" in row:
            row["source"] = self.text(row["source"])
        if isinstance(step, Execution) and "outputs" in row:
            row["outputs"] = [self._output(output) for output in row["outputs"]]
        return from_dict(row)

    def cell(self, cell: Cell) -> Cell:
        return Cell(id=cell.id, source=self.text(cell.source), type=cell.type, tags=cell.tags)

    def text(self, text: str, *, is_output: bool = False) -> str:
        """A text without secrets. is_output: it is output, not code."""
        text = _ASSIGNED.sub(self._assigned, text)
        if is_output:
            text = _SHOWN.sub(self._assigned, text)
        for pattern in self._texts:
            text = pattern.sub(MASKED, text)
        if self._secrets:
            if self._any_secret is None:
                longest = sorted(self._secrets, key=len, reverse=True)
                self._any_secret = re.compile("|".join(map(re.escape, longest)))
            text = self._any_secret.sub(MASKED, text)
        return text

    def _assigned(self, match: re.Match[str]) -> str:
        value = match["value"]
        if value.startswith(MASKED) or not self._is_secret(match["name"], value.strip("\"'")):
            return match[0]
        quote = value[0] if value[0] in "\"'" else ""
        self._know(value.strip("\"'"))
        return f"{match['before']}{match['name']}{match['between']}{quote}{MASKED}{quote}"

    def _is_wanted(self, name: str) -> bool:
        return self._chosen_names is not None and self._chosen_names.search(name) is not None

    def _is_secret(self, name: Any, value: Any) -> bool:
        """Whether a value, which may be encoded, is secret by its name."""
        if not isinstance(name, str) or not self._names.search(name):
            return False
        if self._is_wanted(name):
            return True
        if value is None or isinstance(value, bool):
            return False
        return not (isinstance(value, str) and is_place(name, value))

    def _know(self, value: str) -> None:
        if not stands_everywhere(value) and MASKED not in value and value not in self._secrets:
            self._secrets.add(value)
            self._any_secret = None

    def _output(self, output: dict[str, Any]) -> dict[str, Any]:
        return {
            name: self.shown(value) if name in ("text", "value", "data", "metadata") else value
            for name, value in output.items()
        }

    def shown(self, value: Any) -> Any:
        """A JSON value of the outputs without the secrets in its texts."""
        if isinstance(value, str):
            return self.text(value, is_output=True)
        if isinstance(value, list):
            return [self.shown(item) for item in value]
        if isinstance(value, dict):
            # Images in base64 contain no text that a pattern could match.
            return {
                k: v if k.startswith(("image/p", "image/j", "image/g")) else self.shown(v)
                for k, v in value.items()
            }
        return value

    # -- states, as trajectory.md and docs/reference/format.md describe them ----------------------------

    def _learn(self, state: dict[str, Any]) -> None:
        for name, row in state["variables"].items():
            objects = row.get("objects", {})
            named = [(name, row["value"])]
            named += [pair for content in objects.values() for pair in _named(content)]
            for label, value in named:
                for text in _texts(value, objects):
                    if self._is_secret(label, text):
                        self._know(text)

    def state(self, state: dict[str, Any]) -> dict[str, Any]:
        """A recorded state without secrets."""
        # First, as the values of masked names are searched in all other parts.
        self._learn(state)
        while True:
            known_before = self.known
            variables = {name: self._variable(name, row) for name, row in state["variables"].items()}
            if self.known == known_before:
                return state | {"variables": variables}
            # A parameter contained a secret, which earlier variables may contain, too.

    def _variable(self, name: str, row: dict[str, Any]) -> dict[str, Any]:
        # As `secrets`, which is only a name.
        if self._is_secret(name, row["value"]) and row["type"] != "module":
            public = {key: row[key] for key in ("change", "type")}
            return public | {"value": _cut(row["type"]), "hash": MASKED}
        masked = row | {"value": self._encoded(row["value"])}
        if "objects" in row:
            objects = {number: self._encoded(content) for number, content in row["objects"].items()}
            # Without objects that only masked parts refer to.
            reachable = reached(masked["value"], _numbered(objects))
            masked["objects"] = {
                number: content for number, content in objects.items() if int(number) in reachable
            }
        for more in ("described", "seen"):
            if more in row:
                masked[more] = self.shown(row[more])
        if masked != row:
            masked["hash"] = MASKED  # of the content: a short secret could be found from it by trying
        return masked

    def _encoded(self, value: Any) -> Any:
        """An encoded value or content without secrets."""
        if isinstance(value, str):
            masked = self.text(value)
            return value if masked == value else {"str": masked, "length": len(value), "cut": "masked"}
        if isinstance(value, list):
            return [self._encoded(item) for item in value]
        if not isinstance(value, dict):
            return value
        key = next((key for key in ("str", "text", "bytes", "int") if key in value), None)
        if key is not None:
            # The text of these is a plain string, not a value.
            text = self.text(value[key]) if isinstance(value[key], str) else value[key]
            if text == value[key]:
                return value
            if key == "int":
                return _cut("int")
            length = {"length": len(value[key])} if key == "bytes" and "length" not in value else {}
            return value | {key: text, "cut": "masked"} | length
        masked_parts: dict[str, Any] = {}
        for name, part in value.items():
            if name in _NO_VALUES:
                masked_parts[name] = part
            elif name == "items" and value.get("kind") in ("dict", "table"):
                masked_parts[name] = [
                    [self._encoded(label), self._under(label, item)] for label, item in part
                ]
            elif name == "fields" and isinstance(part, dict):
                masked_parts[name] = {label: self._under(label, item) for label, item in part.items()}
            else:
                masked_parts[name] = self._encoded(part)
        return masked_parts

    def _under(self, name: Any, value: Any) -> Any:
        """An encoded value under a name."""
        return _cut(_type(value)) if self._is_secret(name, value) else self._encoded(value)


def _named(content: dict[str, Any]) -> Iterable[tuple[str, Any]]:
    """The parts of a content that have a name: items of dicts, fields."""
    if content.get("kind") == "dict":
        yield from ((k, v) for k, v in content.get("items", ()) if isinstance(k, str))
    fields = content.get("fields")
    if isinstance(fields, dict):
        yield from fields.items()


def _numbered(objects: dict[str, Any]) -> dict[int, Any]:
    return {int(number): content for number, content in objects.items()}


def _texts(value: Any, objects: dict[str, Any]) -> list[str]:
    """The strings in an encoded value and in its referenced objects, without keys and names of fields."""
    strings: list[str] = []
    by_number = _numbered(objects)
    todo = [value, *map(by_number.__getitem__, reached(value, by_number))]
    while todo:
        part = todo.pop()
        if isinstance(part, str):
            strings.append(part)
        elif isinstance(part, list):
            todo += part
        elif isinstance(part, dict):
            items = part.get("items", ())
            todo += [item[1] for item in items] if part.get("kind") in ("dict", "table") else items
            todo += [value for key in ("tuple", "frozenset", "array") for value in part.get(key, ())]
            todo += part.get("fields", {}).values() if isinstance(part.get("fields"), dict) else ()
            todo += [part["str"]] if isinstance(part.get("str"), str) else ()
    return strings


def _cut(type_name: str) -> dict[str, Any]:
    return {"cut": "masked", "type": type_name}


def _type(encoded: Any) -> str:
    """The type's name, if an encoded value has it."""
    if isinstance(encoded, dict):
        plain = next(
            (kind for kind in ("str", "int", "float", "bytes", "tuple") if kind in encoded), "object"
        )
        return str(encoded.get("type", plain))
    return "NoneType" if encoded is None else type(encoded).__name__


def _compiled(patterns: list[str], flags: re.RegexFlag) -> re.Pattern[str]:
    for pattern in patterns:
        try:
            re.compile(pattern)
        except re.error as error:
            raise InputError(
                f"the pattern {json.dumps(pattern)} is not a regular expression: {error}."
            ) from error
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), flags)
