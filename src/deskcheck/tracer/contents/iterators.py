"""What an iterator of itertools has before it, read where it lies: nothing is drawn, and no code runs.

`__reduce__` told that up to 3.13, and warned (3.12, 3.13); 3.14 has none. What it told is told here, as
(parts, state), from the C structures of Modules/itertoolsmodule.c, which are the same from 3.11 to 3.15.
"""

import builtins
import ctypes
import itertools
import sys
from collections.abc import Callable
from typing import Any

from deskcheck.tracer.contents.memory import WORD, objects_at, pointer_at

# A program may replace builtins; functions defined from here on keep the real ones.
globals()["__builtins__"] = dict(vars(builtins))

Told = tuple[tuple[Any, ...], Any]
_HEAD = 16


def part(iterator: Any, word: int) -> Any:
    """The object that a word of a C structure points to, the first after the object's head being 0. Raises
    ValueError for NULL."""
    return objects_at(id(iterator) + _HEAD)[word]


def _part_or(iterator: Any, word: int, otherwise: Any) -> Any:
    try:
        return part(iterator, word)
    except ValueError:
        return otherwise


def _number(iterator: Any, word: int) -> int:
    """A word of the structure as a signed number."""
    return ctypes.c_ssize_t(pointer_at(id(iterator) + _HEAD + WORD * word)).value


def _numbers(iterator: Any, word: int, count: int) -> tuple[int, ...]:
    """The array of numbers that a word points to."""
    first = pointer_at(id(iterator) + _HEAD + WORD * word)
    return tuple([ctypes.c_ssize_t(pointer_at(first + WORD * n)).value for n in range(count)])


def _is_true(iterator: Any, word: int) -> bool:
    """A C int."""
    return bool(pointer_at(id(iterator) + _HEAD + WORD * word) & 0xFFFFFFFF)


def _count(iterator: Any) -> Told:
    following = _number(iterator, 0)
    if following != sys.maxsize:
        return (following,), None
    following = _part_or(iterator, 1, following)  # NULL where that was reached by counting
    return (following, part(iterator, 2)), None


def _repeat(iterator: Any) -> Told:
    left = _number(iterator, 1)
    return ((part(iterator, 0),) if left < 0 else (part(iterator, 0), left)), None


def _chain(iterator: Any) -> Told:
    source, active = _part_or(iterator, 0, None), _part_or(iterator, 1, None)
    if source is None:
        return (), None
    return (), (source,) if active is None else (source, active)


def _accumulate(iterator: Any) -> Told:
    parts = (part(iterator, 1), _part_or(iterator, 2, None))
    return parts, _part_or(iterator, 0, _part_or(iterator, 3, None))


def _pair(iterator: Any) -> Told:
    return (part(iterator, 0), part(iterator, 1)), None


def _pair_and_flag(iterator: Any) -> Told:
    return (part(iterator, 0), part(iterator, 1)), int(bool(_number(iterator, 2)))


def _zip_longest(iterator: Any) -> Told:
    iterators = part(iterator, 2)
    first = (tuple.__basicsize__ - _HEAD) // WORD
    inner = [_part_or(iterators, first + n, ()) for n in range(len(iterators))]  # NULL once it is exhausted
    return tuple(inner), _part_or(iterator, 4, None)


def _product(iterator: Any) -> Told:
    if _is_true(iterator, 3):
        return ((),), None
    pools = part(iterator, 0)
    begun = _part_or(iterator, 2, None) is not None
    return pools, _numbers(iterator, 1, len(pools)) if begun else None


def _combinations(iterator: Any) -> Told:
    size = _number(iterator, 3)
    begun = _part_or(iterator, 2, None) is not None
    if begun and _is_true(iterator, 4):
        return ((), size), None
    return (part(iterator, 0), size), _numbers(iterator, 1, size) if begun else None


def _permutations(iterator: Any) -> Told:
    size = _number(iterator, 4)
    begun = _part_or(iterator, 3, None) is not None
    if begun and _is_true(iterator, 5):
        return ((), size), None
    pool = part(iterator, 0)
    state = (_numbers(iterator, 1, len(pool)), _numbers(iterator, 2, size)) if begun else None
    return (pool, size), state


def _groupby(iterator: Any) -> Told:
    parts = (part(iterator, 0), part(iterator, 1))
    try:
        return parts, (part(iterator, 3), part(iterator, 4), part(iterator, 2))
    except ValueError:
        return parts, None


def _islice(iterator: Any) -> Told:
    if _part_or(iterator, 0, None) is None:  # exhausted, it lets go of that
        return ((), 0), 0
    stop = _number(iterator, 2)
    parts = (part(iterator, 0), _number(iterator, 1), None if stop < 0 else stop, _number(iterator, 3))
    return parts, _number(iterator, 4)


_TOLD: dict[int, Callable[[Any], Told]] = {
    id(kind): told
    for kind, told in (
        (itertools.count, _count),
        (itertools.repeat, _repeat),
        (itertools.chain, _chain),
        (itertools.islice, _islice),
        (itertools.accumulate, _accumulate),
        (itertools.compress, _pair),
        (itertools.takewhile, _pair_and_flag),
        (itertools.dropwhile, _pair_and_flag),
        (itertools.filterfalse, _pair),
        (itertools.starmap, _pair),
        (itertools.zip_longest, _zip_longest),
        (itertools.product, _product),
        (itertools.permutations, _permutations),
        (itertools.combinations, _combinations),
        (itertools.combinations_with_replacement, _combinations),
        (itertools.groupby, _groupby),
    )
}


def told(iterator: Any) -> Told | None:
    """What `__reduce__` of 3.11 gives: arguments of the type, and a state. None for other iterators."""
    read = _TOLD.get(id(type(iterator)))
    return None if read is None else read(iterator)
