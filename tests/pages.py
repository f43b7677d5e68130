"""Pages as data: README and docs/, their blocks of code, commands and outputs; the facts of an HTML page of ours."""

import base64
import json
import re
import shlex
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
_FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page. printed: the block without a language that follows next, if one does."""

    language: str
    text: str
    printed: str


def blocks(page: Path) -> list[Block]:
    found = _FENCE.findall(page.read_text(encoding="utf-8"))
    following = [*found[1:], ("end", "")][: len(found)]
    return [
        Block(language, text, after if kind == "" else "")
        for (language, text), (kind, after) in zip(found, following, strict=True)
    ]


def said_commands(page: Path) -> Iterator[list[str]]:
    """The words of each command of deskcheck in the page's blocks of code, fenced or indented.

    What follows three blanks is an explanation, and so is what follows ``#``.
    """
    lines = [line for block in blocks(page) if block.language in ("sh", "") for line in _joined(block.text)]
    lines += _joined("\n".join(re.findall(r"^    (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)))
    for line in lines:
        if re.match(r"(\$ )?deskcheck [a-z]", line):
            said = re.split(r" {3,}", line.removeprefix("$ "))[0]
            yield shlex.split(said.replace("'[", "'").replace("]'", "'"), comments=True)[1:]


def _joined(text: str) -> list[str]:
    return re.sub(r"\\\n *", "", text).split("\n")


def rows(printed: str) -> list[str]:
    """Lines without the lines between columns, white space and what differs from run to run."""
    found = []
    for line in printed.splitlines():
        if line.strip() in ("", "...") or "━" in line or "┃" in line:
            continue
        text = " ".join(line.replace("│", " ").split())
        text = re.sub(r"\S*/deskcheck-\w+\.html", "PAGE", text)
        found.append(re.sub(r" \d+\.\d$", " SECONDS", text))
    return found


def page_facts(html: str) -> Any:
    """The JSON value that an HTML page of ours shows."""
    packed = re.search(r'id="facts">([^<]*)<', html)
    assert packed is not None
    return json.loads(zlib.decompress(base64.b64decode(packed[1])))
