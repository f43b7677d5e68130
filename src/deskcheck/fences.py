"""Code fences: every prompt, lesson and report puts its texts between them with `fenced`.

Not covered: tildes as fences, and fences in files of others.
"""

import re

_BACKTICKS = re.compile("`+")
FENCED = re.compile(
    r"^(?P<fence>`{3,})(?P<language>\w*)\n(?P<text>.*?)\n(?P=fence)$", re.DOTALL | re.MULTILINE
)
"""A text that `fenced` wrote."""
_LOOSE = re.compile(
    r"^[ \t]*(?P<fence>`{3,})[\w+-]*[ \t]*\n(?P<text>.*?)^[ \t]*(?P=fence)[ \t]*$", re.DOTALL | re.MULTILINE
)


def fenced(text: str, language: str = "") -> str:
    """The text between two fences that are longer than every run of backticks in it.

    So the text cannot end the fence: CommonMark 0.31, section 4.5.
    """
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def fenced_code(code: str) -> str:
    """A program between fences, without the empty lines around it."""
    return fenced(code.strip("\n"), "python")


def fenced_texts(text: str) -> list[str]:
    """The texts between fences in an answer of a model, each with its last line end.

    A closing fence is as long as the opening one. Both may be indented.
    """
    return [match["text"] for match in _LOOSE.finditer(text)]
