"""Output to a person at a terminal, or in a browser.

Texts of programs and models, and names of files, may contain escape sequences. They are made visible, so
that they cannot command the terminal.
"""

import os
import re
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import rich.console
from rich.segment import Segment

from deskcheck.errors import InputError

_COMMANDS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # but tab and line feed
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # which turn the direction of text
    "\u2028\u2029\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]"
)


def visible(text: str) -> str:
    """The text with all characters that a terminal would obey or hide in Python's notation: ``\\x1b``."""
    return _COMMANDS.sub(lambda match: ascii(match[0])[1:-1], text)


class Console(rich.console.Console):
    """A console whose texts cannot contain escape sequences other than its own."""

    def render(
        self, renderable: Any, options: rich.console.ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control or not _COMMANDS.search(segment.text):
                yield segment
            else:
                yield Segment(visible(segment.text), segment.style)


def console_out() -> Console:
    return Console(width=None if sys.stdout.isatty() else 130, highlight=False)


def has_browser() -> bool:
    """Whether this is a terminal from which a browser with windows can be opened."""
    import webbrowser

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    if sys.platform == "linux" and not any(os.environ.get(n) for n in ("DISPLAY", "WAYLAND_DISPLAY")):
        return False  # only a browser for the terminal would be found
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True


def open_in_browser(url: str) -> None:
    import webbrowser

    if not webbrowser.open(url):
        print(f"cannot open a browser. The page is at {url}", file=sys.stderr)


def kept_page() -> Path:
    """A file for a page to open. The browser may read it after the command, so it is not deleted.

    Raises InputError if no folder for temporary files can be written.
    """
    try:
        with tempfile.NamedTemporaryFile(prefix="deskcheck-", suffix=".html", delete=False) as file:
            return Path(file.name)
    except OSError as error:
        raise InputError(f"no page was written: {error}. Name a file with --page FILE.html.") from None
