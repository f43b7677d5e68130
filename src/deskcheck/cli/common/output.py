"""Output of all commands: messages on standard error, tables on standard output, progress bars.

Nothing that is printed through this module can command the terminal (`deskcheck.terminal`). JSON never
contains escape sequences.
"""

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Annotated, Any, TextIO, cast

import typer

from deskcheck.errors import DeskcheckError, InputError
from deskcheck.files import write_file
from deskcheck.terminal import Console, open_in_browser, visible

REPORT_EVERY_S = 30.0
messages = Console(stderr=True, highlight=False)


class _Stream:
    """A standard stream that discards output after its reader has gone, as in `| head`.

    The command then continues, and ends with the same status as otherwise.
    """

    def __init__(self, file: TextIO, name: str) -> None:
        self._file = file
        self._name = name

    def write(self, text: str) -> int:
        try:
            return self._file.write(text)
        except OSError as error:
            self._failed(error)
            return len(text)

    def flush(self) -> None:
        try:
            self._file.flush()
        except OSError as error:
            self._failed(error)

    def _failed(self, error: OSError) -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._file.fileno())  # takes what is not flushed yet, too
        os.close(nowhere)
        if not isinstance(error, BrokenPipeError):
            raise DeskcheckError(f"{self._name} cannot be written: {error.strerror}.") from error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


class _VisibleStream:
    """A standard stream that escapes its text. `Console` bypasses it with `rich_proxied_file`."""

    def __init__(self, file: _Stream) -> None:
        self.rich_proxied_file = file

    def write(self, text: str) -> int:
        self.rich_proxied_file.write(visible(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


@contextmanager
def standard_streams() -> Iterator[None]:
    """Make all printed text `visible` in the context.

    Streams that were closed before the command began lead to the null device, so that no file of deskcheck
    gets their descriptors.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, closefd=False)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", closefd=False)
    out = _VisibleStream(_Stream(sys.stdout, "standard output"))
    error = _VisibleStream(_Stream(sys.stderr, "standard error"))
    with redirect_stdout(cast(TextIO, out)), redirect_stderr(cast(TextIO, error)):
        yield


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


def say(text: str) -> None:
    """Print a message on standard error, above a progress bar if there is one."""
    messages.print(text, markup=False, soft_wrap=True)


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Any]:
    """Show a progress bar on standard error, if it is a terminal. Yields a function that advances it."""
    if quiet or not sys.stderr.isatty():
        yield lambda text, finished=None, total=None: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.fields[what]:<32}", markup=False),
        BarColumn(pulse_style="cyan"),
        MofNCompleteColumn(),
    )
    with Progress(*columns, TimeElapsedColumn(), console=messages, transient=True) as bar:
        task = bar.add_task("record", total=None, what="")

        def advance(text: str, finished: int | None = None, total: int | None = None) -> None:
            """Count one more item; or, with `finished`, show that number of `total`."""
            if finished is None:
                bar.update(task, advance=1, what=text[:32])
            else:
                bar.update(task, completed=finished, total=total or None, what=text[:32])

        yield advance


@contextmanager
def progress_reports(quiet: bool) -> Iterator[Callable[..., None]]:
    """Show a progress bar, or in a batch job print a line now and then. Yields a function to report to."""
    if quiet or sys.stderr.isatty():
        with progress_bar(quiet) as advance:
            yield advance
        return
    last_message, count = time.monotonic(), 0

    def report(text: str, finished: int | None = None, total: int | None = None) -> None:
        """Count one more item; or, with `finished`, show that number of `total`."""
        nonlocal last_message, count
        count = count + 1 if finished is None else finished
        if time.monotonic() - last_message >= REPORT_EVERY_S:
            last_message = time.monotonic()
            if finished is None:
                say(f"{count} done, last {text}")
            else:
                say(f"{text}: {finished} of {total}" if total else text)

    yield report


@contextmanager
def says_when_interrupted(text: str) -> Iterator[None]:
    """Make this text the command's message if an interrupt or SIGTERM ends the context.

    `commands.Commands` prints the message of an interrupt.
    """
    try:
        yield
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(text) from error
    except SystemExit:
        say(text)
        raise


def refuse_unwritable(file: Path) -> None:
    """Raise InputError if a file cannot be written. For a check before the work begins."""
    existing = file if file.exists() else file.absolute().parent
    if file.is_dir() or not existing.exists() or not os.access(existing, os.W_OK):
        problem = "it is a folder" if file.is_dir() else f"{existing} does not exist, or is not writable"
        raise InputError(f"{file}: cannot be written: {problem}.")


def print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)


def say_row(row: Mapping[str, Any]) -> None:
    """Print the figures of a training step, on standard error."""
    texts = {name: f"{value:.4g}" if isinstance(value, float) else value for name, value in row.items()}
    say("  ".join(f"{name} {value}" for name, value in texts.items()))


def write_text(out: Path, text: str, opened: bool) -> None:
    """Write a page to a file, print its size, and open it in a browser if `opened`."""
    size = write_file(out, [text])
    print(f"{out}: {size / 1e6:.1f} MB")
    if opened:
        open_in_browser(out.resolve().as_uri())
