"""Pages for a browser: where they are written, and whether there is one to open them in."""

import os
import sys
import tempfile
from pathlib import Path

from deskcheck.cli.output import say
from deskcheck.files import write_file


def has_browser() -> bool:
    """Whether someone sits at a terminal from which a browser with windows can be opened."""
    import webbrowser

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    if sys.platform == "linux" and not any(os.environ.get(n) for n in ("DISPLAY", "WAYLAND_DISPLAY")):
        return False  # what would be found is a browser for the terminal
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True


def open_in_browser(url: str) -> None:
    import webbrowser

    if not webbrowser.open(url):
        say(f"no browser could be opened. The page is at {url}")


def write_text(out: Path, text: str, opened: bool) -> None:
    """A page into a file, and into a browser."""
    size = write_file(out, [text])
    print(f"{out}: {size / 1e6:.1f} MB")
    if opened:
        open_in_browser(out.resolve().as_uri())


def kept_page() -> Path:
    """A file for a page that is opened. It stays: the browser reads it after this command has ended."""
    with tempfile.NamedTemporaryFile(prefix="deskcheck-", suffix=".html", delete=False) as file:
        return Path(file.name)
