"""A source: the cells of a text file, divided by ``# %%``, each a program."""

from collections.abc import Callable, Iterator
from pathlib import Path

from deskcheck.recording import InputError, Program
from deskcheck.sources import source


@source("cells", about="cells of a text file, divided by # %%: cells:FILE.py")
def cells(rest: str, note: Callable[[str], None]) -> Iterator[Program]:
    try:
        text = Path(rest).read_text("utf-8")
    except OSError as error:
        raise InputError(f"cells:{rest}: cannot be read: {error.strerror}.") from error
    for number, code in enumerate(text.split("# %%")):
        if code.strip():
            yield Program(id=f"cell-{number}", code=code, source=rest)
