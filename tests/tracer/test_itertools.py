"""What is read of the iterators of itertools, against `__reduce__`, which told it up to 3.13."""

import itertools
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from deskcheck.tracer.contents.iterators import reduced

WORDS = ["b", "aa", "", "c", "aa"]
MAKE: dict[str, Callable[[], Iterator[Any]]] = {
    "count": lambda: itertools.count(3),
    "count by a step": lambda: itertools.count(2, 0.5),
    "count of large numbers": lambda: itertools.count(1 << 70),
    "count beyond a word": lambda: itertools.count(sys.maxsize - 1),
    "repeat": lambda: itertools.repeat("x", 2),
    "repeat for ever": lambda: itertools.repeat("x"),
    "chain": lambda: itertools.chain(WORDS, (1, 2)),
    "chain of none": lambda: itertools.chain(),
    "chain of an iterable": lambda: itertools.chain.from_iterable(iter([WORDS, "cd"])),
    "islice": lambda: itertools.islice(WORDS, 1, 4, 2),
    "islice without end": lambda: itertools.islice(itertools.count(), 2, None),
    "accumulate": lambda: itertools.accumulate(WORDS),
    "accumulate by a function": lambda: itertools.accumulate([3, 1, 4], max),
    "compress": lambda: itertools.compress(WORDS, [1, 0, 1]),
    "takewhile": lambda: itertools.takewhile(bool, WORDS),
    "dropwhile": lambda: itertools.dropwhile(bool, WORDS),
    "filterfalse": lambda: itertools.filterfalse(None, WORDS),
    "starmap": lambda: itertools.starmap(max, [(1, 2), (3, 4)]),
    "zip_longest": lambda: itertools.zip_longest("abc", (1,), fillvalue="-"),
    "product": lambda: itertools.product("ab", (1, 2, 3)),
    "product of nothing": lambda: itertools.product("ab", ()),
    "product repeated": lambda: itertools.product("ab", repeat=3),
    "permutations": lambda: itertools.permutations("abc", 2),
    "permutations of too few": lambda: itertools.permutations("ab", 3),
    "combinations": lambda: itertools.combinations("abcd", 2),
    "combinations of too few": lambda: itertools.combinations("a", 2),
    "combinations_with_replacement": lambda: itertools.combinations_with_replacement("abc", 2),
    "groupby": lambda: itertools.groupby(WORDS),
    "groupby a key": lambda: itertools.groupby(WORDS, len),
}
EXHAUSTED_IS_MADE_UP = {"islice", "accumulate", "accumulate by a function"}


def _same(one: Any, other: Any) -> bool:
    """Equal, and the very same iterators."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return one is other or (type(one) is type(other) and not isinstance(one, Iterator) and one == other)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="no __reduce__: would compare what is read with it")
@pytest.mark.parametrize("name", MAKE)
def test_it_is_what_reduce_tells(name: str) -> None:
    """Wherever the iterator stands."""
    iterator = MAKE[name]()
    for _ in range(9):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                parts, state = (*iterator.__reduce__()[1:], None)[:2]
            except SystemError:  # `count` at the largest Py_ssize_t
                parts, state = (sys.maxsize, 1), None
        found = reduced(iterator)
        assert found is not None
        begun = not (name in EXHAUSTED_IS_MADE_UP and state is None)
        assert not begun or (_same(found[0], parts) and _same(found[1], state)), (found, parts, state)
        if next(iterator, iterator) is iterator:
            break


@pytest.mark.parametrize("name", MAKE)
def test_it_draws_nothing(name: str) -> None:
    """An iterator that is read before each step gives what one gives that is never read."""
    plain, read = MAKE[name](), MAKE[name]()
    for _ in range(9):
        reduced(read)
        one, other = next(plain, None), next(read, None)
        assert (one is None) == (other is None)
        assert isinstance(one, tuple) or one == other


def test_an_accumulation_tells_its_total() -> None:
    """Before the first step, what it begins with."""
    total = itertools.accumulate([1, 2], initial=10)
    assert reduced(total) == ((reduced(total)[0][0], None), 10)
    assert (next(total), next(total)) == (10, 11)
    assert reduced(total)[1] == 11
