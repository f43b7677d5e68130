"""What commands share: messages on standard error, tables on standard output, a bar while something lasts."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from deskcheck.recording.errors import InputError

TOLD_EVERY_S = 30.0
messages = Console(stderr=True, highlight=False)


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


def say(text: str) -> None:
    """One message on standard error, above a progress bar if there is one."""
    messages.print(text, markup=False, soft_wrap=True)


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Any]:
    """A bar on standard error while it lasts; only where someone is watching."""
    if quiet or not sys.stderr.isatty():
        yield lambda text, done=None, of=None: None
        return
    columns = (TextColumn("{task.fields[what]:<32}"), BarColumn(pulse_style="cyan"), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=messages, transient=True) as bar:
        task = bar.add_task("record", total=None, what="")

        def advance(text: str, done: int | None = None, of: int | None = None) -> None:
            """One more is done; or so many, of so many."""
            if done is None:
                bar.update(task, advance=1, what=text[:32])
            else:
                bar.update(task, completed=done, total=of or None, what=text[:32])

        yield advance


@contextmanager
def progress_told(quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """A bar while it lasts; where nobody watches, as in a batch job, a line now and then."""
    if sys.stderr.isatty():
        with progress_bar(quiet) as advance:
            yield advance
        return
    told = time.monotonic()

    def tell(what: str, done: int, of: int) -> None:
        nonlocal told
        if not quiet and time.monotonic() - told >= TOLD_EVERY_S:
            told = time.monotonic()
            say(f"{what}: {done} of {of}" if of else what)

    yield tell


@contextmanager
def says_when_interrupted(text: str) -> Iterator[None]:
    """Where an interrupt or SIGTERM ends what is inside, this is what the command says of it: of an
    interrupt through `commands.Commands`, which knows of all of them."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(text) from error
    except SystemExit:
        say(text)
        raise


def console_out() -> Console:
    return Console(width=None if sys.stdout.isatty() else 130, highlight=False)


def show_trace(recording: Any, max_events: int = 200) -> None:
    from deskcheck.view import trace_table

    console_out().print(trace_table(recording, max_events=max_events))


def refuse_unwritable(file: Path) -> None:
    """Raise InputError for a file that could not be written, before there is anything to write."""
    there = file if file.exists() else file.absolute().parent
    if file.is_dir() or not there.exists() or not os.access(there, os.W_OK):
        why = "is a folder" if file.is_dir() else f"{there} is not there, or cannot be written to"
        raise InputError(f"{file}: cannot be written: {why}.")


def counts_text(found: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {what}" for what, n in sorted(found.items()))


def counted(number: int, what: str) -> str:
    """As ``1 program``, ``2 programs``."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def print_list(what: str, found: dict[str, str]) -> None:
    if found:
        print(f"{what}: {len(found)}")
        for name, why in list(found.items())[:10]:
            print(f"  {name}: {why}")
        if len(found) > 10:
            print(f"  ... and {len(found) - 10} more")
