"""Explanations of notations for a model that has not learned them, to begin a prompt with.

`EXPLAINED` has the notations of whole runs that can be read back, and the single step in `dynamic`. `TEXTS`
has the words (``explained.toml``).
"""

import tomllib
from importlib.resources import files
from typing import Any

from deskcheck.notation.layout import numbered_text

TEXTS: dict[str, Any] = tomllib.loads(files(__package__).joinpath("explained.toml").read_text("utf-8"))
EXPLAINED_PROGRAM: str = TEXTS["program"]
_NUMBERED = numbered_text(EXPLAINED_PROGRAM)


def _whole(name: str, variables: str, example: str) -> str:
    words = TEXTS["whole_run"].format(variables=variables) + TEXTS["events"] + TEXTS["values"]
    return f"{words}\nAn example.\n\n{_NUMBERED}f(1)\n{name}\n```\n{example}\n```\n\nNow yours.\n\n"


def _steps() -> str:
    words = TEXTS["one_step"] + TEXTS["states"] + TEXTS["values"]
    examples = [f"{step['before']}+1\n```\n{step['after']}\n```\n\n" for step in TEXTS["steps"]]
    return f"{words}\nThree examples.\n\n{_NUMBERED}{''.join(examples)}Now yours.\n\n"


EXPLAINED = {
    "scratchpad": _whole("scratchpad", TEXTS["full"], TEXTS["run"]),
    "compact": _whole("compact", TEXTS["changed"], TEXTS["compact_run"]),
    "dynamic": _steps(),
}
"""The explanation of each notation, with an empty line at its end."""
