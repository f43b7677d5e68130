"""`deskcheck help`: the pages of the documentation, which the package brings with it."""

import json
import os.path
import re
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

from deskcheck.cli.common.output import Json
from deskcheck.errors import DeskcheckError, InputError
from deskcheck.terminal import console_out

SORTS = {
    "tutorials": "Tutorials",
    "guides": "How-to guides",
    "reference": "Reference",
    "explanation": "Explanation",
}
"""Folders of pages, in the order in which they are listed, with their headings."""

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")
_PICTURE = re.compile(r"^!\[([^\]]*)\]\([^)\s]+\)$", re.MULTILINE)
_FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def folder() -> Path:
    """Where the pages lie: in the installed package, or in the checkout that runs.

    Raises DeskcheckError where neither holds them.
    """
    package = Path(__file__).parents[1]
    for place in (package / "pages", package.parents[1] / "docs"):
        if (place / "reference").is_dir():
            return place
    raise DeskcheckError(
        f"{package / 'pages'}: the pages of the documentation are missing from this installation. "
        "Install deskcheck again: pip install --force-reinstall deskcheck"
    )


def pages() -> dict[str, Path]:
    """The files of the pages by name, in the order of `SORTS`."""
    place = folder()
    return {file.stem: file for sort in SORTS for file in sorted((place / sort).glob("*.md"))}


def title(file: Path) -> str:
    """The first heading of a page."""
    first = file.read_text(encoding="utf-8").partition("\n")[0]
    return first.removeprefix("# ")


def text(file: Path, names: set[str]) -> str:
    """A page as Markdown to read without a browser: links to pages become names for `deskcheck help`."""

    def link(match: re.Match[str]) -> str:
        shown, target = match.groups()
        name = os.path.basename(target.partition("#")[0]).removesuffix(".md")
        if ":" in target:
            return match[0]
        if target.startswith("#") or name not in names:
            return shown
        return f"`deskcheck help {name}`" if shown == f"{name}.md" else f"{shown} (`deskcheck help {name}`)"

    parts = _FENCED.split(file.read_text(encoding="utf-8"))
    parts[::2] = [_LINK.sub(link, _PICTURE.sub(r"(Picture: \1)", part)) for part in parts[::2]]
    return "".join(parts)


def help_page(
    page: Annotated[
        str | None, typer.Argument(metavar="[PAGE]", help="Name of a page. Without it the pages are listed.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Print a page of the documentation. `deskcheck COMMAND --help` has the options of a command."""
    found = pages()
    if page is None:
        _list(found, as_json)
        return
    name = page.rpartition("/")[2].removesuffix(".md")
    if name not in found:
        near = get_close_matches(name, found, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise InputError(
            f"there is no page {page!r}.{hint} The pages are {', '.join(found)}. "
            "For a command: deskcheck COMMAND --help"
        )
    shown = text(found[name], set(found))
    console = console_out()
    if as_json:
        print(json.dumps({"page": name, "title": title(found[name]), "markdown": shown}))
    elif console.is_terminal:
        with console.pager(styles=True):
            from rich.markdown import Markdown  # which takes longer to load than most commands

            console.print(Markdown(shown))
    else:
        print(shown, end="")


def _list(found: dict[str, Path], as_json: bool) -> None:
    if as_json:
        print(json.dumps({name: title(file) for name, file in found.items()}))
        return
    width = max(map(len, found))
    for sort, heading in SORTS.items():
        print(f"{heading}:")
        for name, file in found.items():
            if file.parent.name == sort:
                print(f"  deskcheck help {name:{width}}  {title(file)}")
    print("\nThe options of a command: deskcheck COMMAND --help")
