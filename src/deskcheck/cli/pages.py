"""`deskcheck help`: the pages of the documentation, which are part of the package."""

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
    "reproduce": "Reproduce a paper",
    "reference": "Reference",
    "explanation": "Explanation",
}
"""Folders of pages, in the order in which they are listed, with their headings."""

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")
_PICTURE = re.compile(r"^!\[([^\]]*)\]\([^)\s]+\)$", re.MULTILINE)
_FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def folder() -> Path:
    """The folder of the pages, in the installed package or in the checkout that runs.

    Raises DeskcheckError if neither contains them.
    """
    package = Path(__file__).parents[1]
    for candidate in (package / "pages", package.parents[1] / "docs"):
        if (candidate / "reference").is_dir():
            return candidate
    raise DeskcheckError(
        f"{package / 'pages'}: the pages of the documentation are missing from this installation. "
        "Install deskcheck again: pip install --force-reinstall deskcheck"
    )


def pages() -> dict[str, Path]:
    """The files of the pages by name, in the order of `SORTS`."""
    docs = folder()
    return {file.stem: file for sort in SORTS for file in sorted((docs / sort).glob("*.md"))}


def title(file: Path) -> str:
    """The first heading of a page."""
    first = file.read_text(encoding="utf-8").partition("\n")[0]
    return first.removeprefix("# ")


def text(file: Path, names: set[str]) -> str:
    """A page as Markdown to read without a browser: links to pages become names for `deskcheck help`."""

    def link(match: re.Match[str]) -> str:
        label, target = match.groups()
        name = os.path.basename(target.partition("#")[0]).removesuffix(".md")
        if ":" in target:
            return match[0]
        if target.startswith("#") or name not in names:
            return label
        return f"`deskcheck help {name}`" if label == f"{name}.md" else f"{label} (`deskcheck help {name}`)"

    parts = _FENCED.split(file.read_text(encoding="utf-8"))
    parts[::2] = [_LINK.sub(link, _PICTURE.sub(r"(Picture: \1)", part)) for part in parts[::2]]
    return "".join(parts)


def help_page(
    page: Annotated[
        str | None, typer.Argument(metavar="[PAGE]", help="Name of a page. Without it, list the pages.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Print a page of the documentation. For the options of a command: `deskcheck COMMAND --help`."""
    files = pages()
    if page is None:
        _list(files, as_json)
        return
    name = page.rpartition("/")[2].removesuffix(".md")
    if name not in files:
        near = get_close_matches(name, files, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise InputError(
            f"unknown page {page!r}.{hint} The pages are {', '.join(files)}. For a command: deskcheck "
            "COMMAND --help"
        )
    markdown = text(files[name], set(files))
    console = console_out()
    if as_json:
        print(json.dumps({"page": name, "title": title(files[name]), "markdown": markdown}))
    elif console.is_terminal:
        with console.pager(styles=True):
            from rich.markdown import Markdown  # which takes longer to load than most commands

            console.print(Markdown(markdown))
    else:
        print(markdown, end="")


def _list(files: dict[str, Path], as_json: bool) -> None:
    if as_json:
        print(json.dumps({name: title(file) for name, file in files.items()}))
        return
    width = max(map(len, files))
    for sort, heading in SORTS.items():
        print(f"{heading}:")
        for name, file in files.items():
            if file.parent.name == sort:
                print(f"  deskcheck help {name:{width}}  {title(file)}")
    print("\nThe options of a command: deskcheck COMMAND --help")
