"""What recordings are not to tell: environment variables, and values whose name says that they are secret.

`EnvironmentMask` takes the variables of an environment out of events and texts. It cannot know a value that
was changed before it was seen: a part of a path, a key in another encoding.
"""

import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from deskcheck.recording.block import rows
from deskcheck.recording.trace import Row
from deskcheck.recording.value import Encoded, loads

MASKED = "[masked]"
NAMES = (
    r"passw(or)?d|passphrase|secret|credential",
    r"(api|access|private|auth|account|signing|encryption)_?key",
    r"token$|(^|_)(pwd|auth)$",
)
"""Built-in patterns for names, searched without regard to case: ``password``, ``API_KEY``, ``hf_token``; not
``tokens`` or ``tokenizer``."""
MIN_KNOWN = 6
"""Characters of a value that is masked wherever it stands: shorter ones stand everywhere."""
_SHELL = frozenset({"PWD", "OLDPWD"})
"""Names that every shell gives to the working folder."""
_WORDS = frozenset(
    """
    always anonymous another bearer builtin changeme default digest disable disabled dummy enable enabled
    example external integrated internal invalid localhost missing negotiate optional passphrase password
    private public random redacted replace required secret secrets string token undefined unknown unused
    username
    """.split()
)
"""Settings and placeholders that stand under names of secrets, and in ordinary text."""
_SECRET = re.compile("|".join(NAMES), re.IGNORECASE)
_DOTENV = ".env"
_DOTENV_BYTES = 1 << 20
_ASSIGNED = re.compile(
    r"""^[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_]\w*)[ \t]*=[ \t]*
    (?:'(?P<single>[^']*)'|"(?P<double>(?:[^"\\]|\\.)*)"|(?P<bare>[^\n]*))""",
    re.MULTILINE | re.VERBOSE | re.DOTALL,
)
_COMMON = re.compile(r"LANG|LANGUAGE|LC_\w+|TERM|COLORTERM|SHELL|TZ|PWD|OLDPWD")
"""Variables whose values say nothing of their user, and stand in programs as they are."""
_MIN_WHOLE, _MIN_INSIDE = 8, 12
_PATH = re.compile(r"[~.\w]*(/[^:]*)+")
"""Begins many other texts."""
_HEAD = 64
"""Characters: values are recorded up to some length, which is not less."""
_PLAIN = frozenset({"type", "dtype", "names", "cut"})
"""Entries of an encoded value that are no values of the program's."""
_CUT = {"cut": "masked", "type": "str"}


def is_place(name: str, value: str) -> bool:
    """Whether a value is a place and not a secret, although its name may look like that of one: the working
    folder of a shell, the path of a file or folder that exists."""
    if name.upper() in _SHELL:
        return value.startswith("/")
    return os.path.isabs(value) and os.path.exists(value)


def stands_everywhere(value: str) -> bool:
    """Whether a value is too common to be masked in ordinary text."""
    return len(value) < MIN_KNOWN or value.lower() in _WORDS


def secrets_of(variables: Mapping[str, str]) -> dict[str, str]:
    """The variables whose names look like those of secrets. Without places, and without values that another
    variable has under a plain name, such as a user's name that is the password, too."""
    shown = {value for name, value in variables.items() if not _SECRET.search(name)}
    return {
        name: value
        for name, value in variables.items()
        if value and _SECRET.search(name) and value not in shown and not is_place(name, value)
    }


def variables_around(*folders: str | None) -> dict[str, str]:
    """The variables of this process, and those in a file ``.env`` of these folders."""
    variables: dict[str, str] = {}
    for folder in folders:
        if folder is not None:
            variables |= _in_dotenv(os.path.join(folder, _DOTENV))
    return variables | dict(os.environ)


def _in_dotenv(path: str) -> dict[str, str]:
    """The variables that a file assigns; none where it is not there, or is not a file of usual size."""
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
    """The value, as shells take it."""
    if match["single"] is not None:
        return match["single"]
    if match["double"] is not None:
        return re.sub(r"(?s)\\(.)", lambda escape: {"n": "\n"}.get(escape[1], escape[1]), match["double"])
    return re.split(r"\s#", match["bare"], maxsplit=1)[0].strip()


class EnvironmentMask:
    """Masks the variables of an environment. `masked`: names of those that it has met.

    A name together with its value is taken out wherever they stand: in `os.environ`, in a copy of it, in
    ``NAME=value``. So is a value by itself where it is a whole string of some length; and inside of other
    text where its name is that of a secret (`NAMES`), or where it is longer and no path.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.masked: set[str] = set()
        self._variables = dict(environment)
        secret = secrets_of(environment)
        long = {name: value for name, value in environment.items() if not stands_everywhere(value)}
        self._whole = {
            value for name, value in long.items() if len(value) >= _MIN_WHOLE and not _COMMON.fullmatch(name)
        }
        inside = [
            value
            for name, value in long.items()
            if name in secret
            or (len(value) >= _MIN_INSIDE and not _PATH.fullmatch(value) and not _COMMON.fullmatch(name))
        ]
        values = {*self._whole, *inside}
        self._begin = sorted({*environment, *values, *map(_inside, values)} - {""})
        """Where a match begins one of these stands."""
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
        patterns += [f"""(?<=['"]){re.escape(_inside(value))}(?=['"])""" for value in self._whole]
        patterns += [re.escape(form) for value in inside for form in {value, _inside(value)}]
        patterns.sort(key=len, reverse=True)
        self._patterns = re.compile("|".join(patterns) or r"(?!)")

    def text(self, text: str) -> str:
        """A text without them."""
        masked = self._text(text)
        if masked != text:
            self.masked.update(name for name, value in self._variables.items() if value and value in text)
        return masked

    def _text(self, text: str) -> str:
        if text in self._whole:
            return MASKED
        if not any(needle in text for needle in self._needles):
            return text
        # Trying the patterns at every character of what tests write takes a second a megabyte.
        parts, end = [], 0
        for at in sorted({at for begin in self._begin for at in _places(begin, text)}):
            if at >= end and (match := self._patterns.match(text, at)) is not None:
                parts += [text[end:at], MASKED]
                end = match.end()
        return "".join([*parts, text[end:]])

    def blocks(self, blocks: list[bytes]) -> Iterator[bytes]:
        """Events without them (`recording.block`): a block that has none of them stays as it is."""
        for block in blocks:
            if not any(needle in block for needle in self._in_bytes):
                yield block
                continue
            before = [*rows(block)]
            masked = [*map(self._row, before)]
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
        """What an object holds, or what changed of that."""
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
        """Values under names of the program's own, which may be any word of the format's."""
        return {
            name: _CUT if self._is_variable([name, value]) else self._encoded(value)
            for name, value in names.items()
        }

    def _items(self, items: list[Any]) -> list[Any]:
        """What a container holds: values, or of a dict pairs of a key and a value."""
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
        """Whether the beginning of a long value, which is all that is recorded of it, is one of theirs."""
        return bool(head) and any(known.startswith(head) for known in self._long)

    def _is_variable(self, pair: Any) -> bool:
        """Whether it is a name with what the environment has under it, or with a longer text of that."""
        if not isinstance(pair, list) or len(pair) != 2:
            return False
        name, value = map(_plain, pair)
        known = None if name is None else self._variables.get(name)
        if known is None or value is None:
            return False
        return value == known or (len(known) >= MIN_KNOWN and known in value)


def _plain(encoded: Any) -> str | None:
    """The string that an encoded value is, or that its bytes mean in an environment."""
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
    """As it stands between the quotes of its repr."""
    return repr(value)[1:-1]


def _pair(name: str, value: str) -> str:
    """``NAME=value``, ``'NAME': 'value'``, ``('NAME', 'value')``."""
    forms = "|".join(map(re.escape, dict.fromkeys((value, _inside(value)))))
    return rf"(?<!\w){re.escape(name)}['\"]?\s*[:=,]\s*b?['\"]?(?:{forms})(?!\w)"


def _written(needle: str) -> Iterator[bytes]:
    """A text as it may stand in events: in JSON, and as bytes that are shown in Latin-1."""
    for text in (needle, os.fsencode(needle).decode("latin-1")):
        yield json.dumps(text)[1:-1].encode()
        yield json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass")
