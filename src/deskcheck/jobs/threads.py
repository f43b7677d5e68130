"""Runs a bounded number of tasks at once in threads."""

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")


def in_threads(
    pool: Executor, function: Callable[[T], U], items: Iterable[T], at_once: int
) -> Generator[tuple[T, Future[U]], None, None]:
    """Pairs of an item and its result, in the order in which they finish.

    At most `at_once` items are taken ahead. An error of the iterable is raised after running calls have
    finished. Close the iterator to cancel calls that have not begun.
    """
    pending: dict[Future[U], T] = {}

    def finished(*, block: bool) -> Iterator[tuple[T, Future[U]]]:
        finished_futures, _ = wait(pending, None if block else 0, FIRST_COMPLETED)
        for future in finished_futures:
            yield pending.pop(future), future

    try:
        try:
            for item in items:
                pending[pool.submit(function, item)] = item
                yield from finished(block=len(pending) >= at_once)
        except Exception:
            while pending:
                yield from finished(block=True)
            raise
        while pending:
            yield from finished(block=True)
    finally:
        for future in pending:
            future.cancel()
