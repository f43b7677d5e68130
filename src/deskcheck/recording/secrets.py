"""Removes secrets from recordings: environment variables, and values with names such as ``password``.

`EnvironmentMask` masks the variables of an environment in events and texts. It cannot recognize a value that
the program has changed, such as a part of a path or a key in another encoding.
"""

import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from deskcheck.recording.block import rows
from deskcheck.recording.trace import Place, Row, WholeTexts
from deskcheck.recording.value import Encoded, loads

MASKED = "[masked]"
NAMES = (
    r"passw(or)?d|passphrase|secret|credential",
    r"(api|access|private|auth|account|signing|encryption)_?key",
    r"token$|(^|_)(pwd|auth)$",
)
"""Patterns for names of secrets, in upper or lower case. They match ``password``, ``API_KEY`` and
``hf_token``, but not ``tokens`` or ``tokenizer``."""
MIN_KNOWN = 6
"""Least length of a value that is masked everywhere. Shorter ones are too common."""
_SHELL = frozenset({"PWD", "OLDPWD"})
"""Variables in which every shell keeps working folders."""
_WORDS = frozenset(
    """
    always anonymous another bearer builtin changeme default digest disable disabled dummy enable enabled
    example external integrated internal invalid localhost missing negotiate optional passphrase password
    private public random redacted replace required secret secrets string token undefined unknown unused
    username
    """.split()
)
"""Settings and placeholders that are common values of secrets, and common words in text."""
_SECRET = re.compile("|".join(NAMES), re.IGNORECASE)
_DOTENV = ".env"
_DOTENV_BYTES = 1 << 20
_ASSIGNED = re.compile(
    r"""^[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_]\w*)[ \t]*=[ \t]*
    (?:'(?P<single>[^']*)'|"(?P<double>(?:[^"\\]|\\.)*)"|(?P<bare>[^\n]*))""",
    re.MULTILINE | re.VERBOSE | re.DOTALL,
)
_COMMON = re.compile(r"LANG|LANGUAGE|LC_\w+|TERM|COLORTERM|SHELL|TZ|PWD|OLDPWD")
"""Variables whose values reveal nothing about their user and are common in programs."""
_MIN_WHOLE, _MIN_INSIDE = 8, 12
_PATH = re.compile(r"[~.\w]*(/[^:]*)+")
"""Paths, which other texts often begin with."""
_HEAD = 64
"""Length of the beginning of a value that is searched for. Recorded values are cut at no fewer characters."""
_PLAIN = frozenset({"type", "dtype", "names", "cut"})
"""Entries of an encoded value that do not come from the program."""
_CUT = {"cut": "masked", "type": "str"}
_EDITS = (b'{"edit":', b'{\\"edit\\":')
"""An edit in a binary block, and in a JSON block."""


def is_place(name: str, value: str) -> bool:
    """Whether a value is a path and not a secret, although its name may look like one.

    That is the working folder of a shell, or the path of an existing file or folder.
    """
    if name.upper() in _SHELL:
        return value.startswith("/")
    return os.path.isabs(value) and os.path.exists(value)


def stands_everywhere(value: str) -> bool:
    """Whether a value is too common to be masked in ordinary text."""
    return len(value) < MIN_KNOWN or value.lower() in _WORDS


def secrets_of(variables: Mapping[str, str]) -> dict[str, str]:
    """The variables whose names look like secrets.

    Paths are excluded, and also values that a variable with an ordinary name has, such as a user's name that
    is also the password.
    """
    plain_values = {value for name, value in variables.items() if not _SECRET.search(name)}
    return {
        name: value
        for name, value in variables.items()
        if value and _SECRET.search(name) and value not in plain_values and not is_place(name, value)
    }


def variables_around(*folders: str | None) -> dict[str, str]:
    """The environment variables of this process, and the variables in the ``.env`` files of these folders."""
    variables: dict[str, str] = {}
    for folder in folders:
        if folder is not None:
            variables |= _in_dotenv(os.path.join(folder, _DOTENV))
    return variables | dict(os.environ)


def _in_dotenv(path: str) -> dict[str, str]:
    """The variables that a file assigns; empty if it does not exist or is unusually large."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        with open(descriptor, encoding="utf-8", errors="replace") as stream:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size > _DOTENV_BYTES:
                return {}
            text = stream.read()
    except OSError:
        return {}
    return {match["name"]: _assigned(match) for match in _ASSIGNED.finditer(text)}


def _assigned(match: re.Match[str]) -> str:
    """The value that a shell would assign."""
    if match["single"] is not None:
        return match["single"]
    if match["double"] is not None:
        return re.sub(r"(?s)\\(.)", lambda escape: {"n": "\n"}.get(escape[1], escape[1]), match["double"])
    return re.split(r"\s#", match["bare"], maxsplit=1)[0].strip()


class EnvironmentMask:
    """Masks the variables of an environment.

    A name with its value is masked everywhere: in `os.environ`, in a copy of it, in ``NAME=value``. A value
    alone is masked if it is a complete string of some length. Within other text it is masked if its name is
    that of a secret (`NAMES`), or if it is longer and not a path.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.masked: set[str] = set()
        """Names of the variables that were found so far."""
        self._variables = dict(environment)
        secret = secrets_of(environment)
        long = {name: value for name, value in environment.items() if not stands_everywhere(value)}
        self._exact_values = {
            value for name, value in long.items() if len(value) >= _MIN_WHOLE and not _COMMON.fullmatch(name)
        }
        inside = [
            value
            for name, value in long.items()
            if name in secret
            or (len(value) >= _MIN_INSIDE and not _PATH.fullmatch(value) and not _COMMON.fullmatch(name))
        ]
        values = {*self._exact_values, *inside}
        self._begin = sorted({*environment, *values, *map(_inside, values)} - {""})
        """Texts that a match can begin with."""
        self._needles = [text for text in self._begin if text != "_"]
        self._long = [value for value in values if len(value) > _HEAD]
        heads = {value[:_HEAD] for value in self._long}
        self._in_bytes = sorted({form for needle in (*self._needles, *heads) for form in _written(needle)})
        self._columns: dict[str, Callable[[Any], Any]] = {
            "locals": self._names,
            "stack": self._items,
            "globals": self._names,
            "objects": self._objects,
            "caller": self._caller,
            "value": self._encoded,
        }
        patterns = [_pair(name, value) for name, value in environment.items() if value]
        patterns += [f"""(?<=['"]){re.escape(_inside(value))}(?=['"])""" for value in self._exact_values]
        patterns += [re.escape(form) for value in inside for form in {value, _inside(value)}]
        patterns.sort(key=len, reverse=True)
        self._patterns = re.compile("|".join(patterns) or r"(?!)")

    def text(self, text: str) -> str:
        """The text with all variables masked."""
        masked = self._text(text)
        if masked != text:
            self.masked.update(name for name, value in self._variables.items() if value and value in text)
        return masked

    def _text(self, text: str) -> str:
        if text in self._exact_values:
            return MASKED
        if not any(needle in text for needle in self._needles):
            return text
        # Trying the patterns at every character of a test's output takes a second a megabyte.
        parts, end = [], 0
        for at in sorted({at for begin in self._begin for at in _places(begin, text)}):
            if at >= end and (match := self._patterns.match(text, at)) is not None:
                parts += [text[end:at], MASKED]
                end = match.end()
        return "".join([*parts, text[end:]])

    def blocks(self, blocks: list[bytes]) -> Iterator[bytes]:
        """Blocks of events (`recording.block`) with all variables masked. Others stay unchanged."""
        has_edits = any(edit in block for block in blocks for edit in _EDITS)
        texts, masked_texts = WholeTexts(), set[Place]()
        for block in blocks:
            if not has_edits and not any(needle in block for needle in self._in_bytes):
                yield block
                continue
            before = [*rows(block)]
            masked = [
                self._edited_row(row, texts, masked_texts) if has_edits else self._row(row) for row in before
            ]
            if masked == before:
                yield block
                continue
            self.masked.update(
                name
                for name, value in self._variables.items()
                if value and any(form in block for form in _written(value[:_HEAD]))
            )
            for row in masked:
                yield json.dumps(row).encode()

    def _edited_row(self, row: Row, texts: WholeTexts, masked_texts: set[Place]) -> Row:
        """A row of a recording with edits: a secret may be in a text that no row has whole.

        masked_texts: places whose text was masked, so that no edit can follow.
        """
        completed = texts.row(row)
        masked = self._row(completed)
        if masked != completed:
            masked_texts |= texts.latest
            return masked
        after_mask = not texts.edited.isdisjoint(masked_texts)
        masked_texts -= texts.latest
        return completed if after_mask else row

    def _row(self, row: Row) -> Row:
        changed: dict[str, Any] = {}
        for column, masks in self._columns.items():
            before: str | None = getattr(row, column)
            if before:
                encoded = loads(before)
                masked = masks(encoded)
                if masked != encoded:
                    changed[column] = json.dumps(masked, ensure_ascii=False, separators=(",", ":"))
        if row.output:
            changed["output"] = self.text(row.output)
        return row._replace(**changed)

    def _caller(self, caller: dict[str, Any]) -> dict[str, Any]:
        masks = {name: mask for name, mask in self._columns.items() if name in ("locals", "stack")}
        return {name: masks[name](part) if name in masks else part for name, part in caller.items()}

    def _objects(self, objects: dict[str, Any]) -> dict[str, Any]:
        return {number: content and self._content(content) for number, content in objects.items()}

    def _content(self, content: dict[str, Any]) -> dict[str, Any]:
        """Mask the content of an object, or a change of it."""
        new = dict(content)
        if "fields" in content:
            new["fields"] = self._names(content["fields"])
        if "items" in content:
            new["items"] = self._items(content["items"])
        if "splice" in content:
            at, removed, items = content["splice"]
            new["splice"] = [at, removed, self._items(items)]
        if isinstance(content.get("text"), str):
            new["text"] = self.text(content["text"])
            if new["text"] != content["text"]:
                new["cut"] = "masked"
        return new

    def _names(self, names: dict[str, Encoded]) -> dict[str, Encoded]:
        """Mask values under names of the program, which may be words of the format, too."""
        return {
            name: _CUT if self._is_variable([name, value]) else self._encoded(value)
            for name, value in names.items()
        }

    def _items(self, items: list[Any]) -> list[Any]:
        """Mask the items of a container: values, or pairs of a key and a value in a dict."""
        return [
            ([_CUT, _CUT] if self._is_variable(item) else [self._encoded(part) for part in item])
            if isinstance(item, list)
            else self._encoded(item)
            for item in items
        ]

    def _encoded(self, value: Encoded) -> Encoded:
        """A value without them (docs/reference/format.md, *Values*)."""
        if isinstance(value, str):
            masked = self.text(value)
            return value if masked == value else {"str": masked, "length": len(value), "cut": "masked"}
        if isinstance(value, list):
            return self._items(value)
        if not isinstance(value, dict):
            return value
        for key in ("str", "bytes", "text"):
            if isinstance(value.get(key), str):
                cut = value.get("cut") == "long" and self._begins(value[key])
                masked = MASKED if cut else self.text(value[key])
                if masked == value[key]:
                    return value
                length = {} if key == "text" else {"length": value.get("length", len(value[key]))}
                return value | length | {key: masked, "cut": "masked"}
        if self._is_variable(value.get("tuple")):
            return value | {"tuple": [_CUT, _CUT]}
        return {name: part if name in _PLAIN else self._encoded(part) for name, part in value.items()}

    def _begins(self, head: str) -> bool:
        """Whether a value that was cut is the beginning of a long variable."""
        return bool(head) and any(value.startswith(head) for value in self._long)

    def _is_variable(self, pair: Any) -> bool:
        """Whether it is a variable's name with its value, or with a text that contains the value."""
        if not isinstance(pair, list) or len(pair) != 2:
            return False
        name, value = map(_plain, pair)
        variable = None if name is None else self._variables.get(name)
        if variable is None or value is None:
            return False
        return value == variable or (len(variable) >= MIN_KNOWN and variable in value)


def _plain(encoded: Any) -> str | None:
    """The string of an encoded value, or of the bytes of an environment variable; None for other values."""
    if isinstance(encoded, dict) and isinstance(encoded.get("bytes"), str):
        return os.fsdecode(encoded["bytes"].encode("latin-1", "replace"))
    if isinstance(encoded, dict) and isinstance(encoded.get("str"), str):
        return str(encoded["str"])
    return encoded if isinstance(encoded, str) else None


def _places(needle: str, text: str) -> Iterator[int]:
    at = text.find(needle)
    while at >= 0:
        yield at
        at = text.find(needle, at + 1)


def _inside(value: str) -> str:
    """The text between the quotes of the value's repr."""
    return repr(value)[1:-1]


def _pair(name: str, value: str) -> str:
    """Pattern of ``NAME=value``, ``'NAME': 'value'`` and ``('NAME', 'value')``."""
    forms = "|".join(map(re.escape, dict.fromkeys((value, _inside(value)))))
    return rf"(?<!\w){re.escape(name)}['\"]?\s*[:=,]\s*b?['\"]?(?:{forms})(?!\w)"


def _written(needle: str) -> Iterator[bytes]:
    """The forms of a text in events: in JSON, and as bytes that are shown in Latin-1."""
    for text in (needle, os.fsencode(needle).decode("latin-1")):
        yield json.dumps(text)[1:-1].encode()
        yield json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass")
