"""The words that generated programs are made of: names by type, names of functions, strings."""

import tomllib

from deskcheck.sources.text.shipped import shipped

_TABLE = tomllib.loads(shipped("words.toml"))
NAMES: dict[str, list[str]] = {kind: words.split() for kind, words in _TABLE["names"].items()}
"""Kind of a variable -> names for it."""
VERBS, NOUNS, SHORT, HELPERS, WORDS = (
    _TABLE[kind].split() for kind in ("verbs", "nouns", "short", "helpers", "strings")
)
MESSAGES: list[str] = _TABLE["messages"]
