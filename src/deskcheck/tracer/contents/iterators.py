"""Reads the remaining items of builtin iterators, without drawing from them or running code of the program.

`__reduce__` of itertools warns on 3.12 and 3.13, and does not exist from 3.14 on. This module reads the same
(parts, state) from the C structures of Modules/itertoolsmodule.c, which are the same from 3.11 to 3.15.
"""

import builtins
import collections
import ctypes
import itertools
import sys
from collections.abc import Callable
from typing import Any

from deskcheck.tracer.contents.introspection import by_id
from deskcheck.tracer.contents.memory import KNOWN, WORD, objects_at, pointer_at

# A program may replace builtins; functions defined from here on keep the real ones.
globals()["__builtins__"] = dict(vars(builtins))

Reduced = tuple[tuple[Any, ...], Any]
_HEAD = 16


def part(iterator: Any, word: int) -> Any:
    """The object that a word of a C structure points to. Raises ValueError for NULL.

    word: 0 for the first word after the object's head.
    """
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
    """Whether a C int is not 0."""
    return bool(pointer_at(id(iterator) + _HEAD + WORD * word) & 0xFFFFFFFF)


def _count(iterator: Any) -> Reduced:
    following = _number(iterator, 0)
    if following != sys.maxsize:
        return (following,), None
    following = _part_or(iterator, 1, following)  # NULL where that was reached by counting
    return (following, part(iterator, 2)), None


def _repeat(iterator: Any) -> Reduced:
    remaining = _number(iterator, 1)
    return ((part(iterator, 0),) if remaining < 0 else (part(iterator, 0), remaining)), None


def _chain(iterator: Any) -> Reduced:
    source, active = _part_or(iterator, 0, None), _part_or(iterator, 1, None)
    if source is None:
        return (), None
    return (), (source,) if active is None else (source, active)


def _accumulate(iterator: Any) -> Reduced:
    parts = (part(iterator, 1), _part_or(iterator, 2, None))
    return parts, _part_or(iterator, 0, _part_or(iterator, 3, None))


def _pair(iterator: Any) -> Reduced:
    return (part(iterator, 0), part(iterator, 1)), None


def _pair_and_flag(iterator: Any) -> Reduced:
    return (part(iterator, 0), part(iterator, 1)), int(bool(_number(iterator, 2)))


def _zip_longest(iterator: Any) -> Reduced:
    iterators = part(iterator, 2)
    first = (tuple.__basicsize__ - _HEAD) // WORD
    inner = [_part_or(iterators, first + n, ()) for n in range(len(iterators))]  # NULL once it is exhausted
    return tuple(inner), _part_or(iterator, 4, None)


def _product(iterator: Any) -> Reduced:
    if _is_true(iterator, 3):
        return ((),), None
    pools = part(iterator, 0)
    begun = _part_or(iterator, 2, None) is not None
    return pools, _numbers(iterator, 1, len(pools)) if begun else None


def _combinations(iterator: Any) -> Reduced:
    size = _number(iterator, 3)
    begun = _part_or(iterator, 2, None) is not None
    if begun and _is_true(iterator, 4):
        return ((), size), None
    return (part(iterator, 0), size), _numbers(iterator, 1, size) if begun else None


def _permutations(iterator: Any) -> Reduced:
    size = _number(iterator, 4)
    begun = _part_or(iterator, 3, None) is not None
    if begun and _is_true(iterator, 5):
        return ((), size), None
    pool = part(iterator, 0)
    state = (_numbers(iterator, 1, len(pool)), _numbers(iterator, 2, size)) if begun else None
    return (pool, size), state


def _groupby(iterator: Any) -> Reduced:
    parts = (part(iterator, 0), part(iterator, 1))
    try:
        return parts, (part(iterator, 3), part(iterator, 4), part(iterator, 2))
    except ValueError:
        return parts, None


def _islice(iterator: Any) -> Reduced:
    if _part_or(iterator, 0, None) is None:  # exhausted, it lets go of that
        return ((), 0), 0
    stop = _number(iterator, 2)
    parts = (part(iterator, 0), _number(iterator, 1), None if stop < 0 else stop, _number(iterator, 3))
    return parts, _number(iterator, 4)


def _named(*names: str) -> Callable[[Any], dict[str, Any]]:
    """Reader of an iterator that `__reduce__` would give as (type, (part, ...), state)."""

    def read(iterator: Any) -> dict[str, Any]:
        parts, state = reduced(iterator)
        fields = dict(zip(names, parts, strict=False))
        if len(parts) > len(names):
            fields["more"] = tuple(parts[len(names) :])
        if state is not None:
            fields["state"] = state
        return fields

    return read


def _indexed(iterator: Any) -> dict[str, Any]:
    """Fields of list, tuple, str, bytes, ... iterators: the sequence, and the index of the next item."""
    parts, index = reduced(iterator)
    if index is None or index < 0:  # exhausted: what it runs over is an empty stand-in
        return {"over": (), "next": 0}
    return {"over": parts[0], "next": index}


def _range_left(iterator: Any) -> dict[str, Any]:
    parts, index = reduced(iterator)
    return {"left": parts[0][index:] if index else parts[0]}


def _hashed(iterator: Any) -> dict[str, Any]:
    """Fields of dict and set iterators: the container, and the number of remaining items.

    Their `__reduce__` would copy all remaining items.
    """
    over = _part_or(iterator, 0, None)
    return {"over": over, "left": 0 if over is None else type(iterator).__length_hint__(iterator)}


def _enumerate_parts(iterator: Any) -> dict[str, Any]:
    inner, count = reduced(iterator)[0]
    return {"iterator": inner, "count": count}


def _map_parts(iterator: Any) -> dict[str, Any]:
    function, *inner = reduced(iterator)[0]
    return {"function": function, "iterators": tuple(inner)}


def _islice_parts(iterator: Any) -> dict[str, Any]:
    inner = _part_or(iterator, 0, None)
    if inner is None:  # the slice is exhausted
        return {"iterator": None}
    (_, start, stop, step), position = reduced(iterator)
    return {"iterator": inner, "next": start, "stop": stop, "step": step, "position": position}


def _cycle_parts(iterator: Any) -> dict[str, Any]:
    return {"iterator": _part_or(iterator, 0, None), "saved": part(iterator, 1), "next": _number(iterator, 2)}


def _pairwise_parts(iterator: Any) -> dict[str, Any]:
    try:
        return {"iterator": part(iterator, 0), "previous": part(iterator, 1)}
    except ValueError:
        return {}


_REDUCED: dict[int, Callable[[Any], Reduced]] = by_id(
    {
        itertools.count: _count,
        itertools.repeat: _repeat,
        itertools.chain: _chain,
        itertools.islice: _islice,
        itertools.accumulate: _accumulate,
        itertools.compress: _pair,
        itertools.takewhile: _pair_and_flag,
        itertools.dropwhile: _pair_and_flag,
        itertools.filterfalse: _pair,
        itertools.starmap: _pair,
        itertools.zip_longest: _zip_longest,
        itertools.product: _product,
        itertools.permutations: _permutations,
        itertools.combinations: _combinations,
        itertools.combinations_with_replacement: _combinations,
        itertools.groupby: _groupby,
    }
)


def reduced(iterator: Any) -> Reduced:
    """The result of `__reduce__` on 3.11: arguments of the type, and a state.

    `__reduce__` of builtin iterators runs no code of the program.
    """
    read = _REDUCED.get(id(type(iterator)))
    if read is not None:
        return read(iterator)
    parts: Any = getattr(type(iterator), "__reduce__")(iterator)  # noqa: B009  # mypy has none with self
    return parts[1], parts[2] if len(parts) > 2 else None


def _types_of(*iterables: Any) -> list[type]:
    return [type(iter(iterable)) for iterable in iterables]


class _Sequence:
    def __getitem__(self, index: int) -> int:
        return 0


_INDEXED = _types_of([], (), "", "é", b"", bytearray())
_REVERSED: list[type] = [type(reversed([])), type(reversed(""))]
_RANGES = _types_of(range(0), range(1 << 70))
_HASHED = _types_of({}, {}.values(), {}.items(), set())
_REVERSED_DICTS: list[type] = [type(reversed({})), type(reversed({}.values())), type(reversed({}.items()))]

FIELDS: dict[int, Callable[[Any], dict[str, Any]]] = (
    by_id(
        {
            **dict.fromkeys([*_INDEXED, *_REVERSED, *_types_of(_Sequence())], _indexed),
            **dict.fromkeys(_RANGES, _range_left),
            **dict.fromkeys([*_HASHED, *_REVERSED_DICTS], _hashed),
            zip: lambda iterator: {"iterators": tuple(reduced(iterator)[0])},
            enumerate: _enumerate_parts,
            map: _map_parts,
            type(iter(int, 1)): _named("callable", "sentinel"),
            type(iter(collections.deque())): _named("over", "next"),
            itertools.count: _named("next", "step"),
            itertools.repeat: _named("value", "left"),
            itertools.cycle: _cycle_parts,
            itertools.islice: _islice_parts,
            itertools.pairwise: _pairwise_parts,
            itertools.compress: _named("iterator", "selectors"),
            **dict.fromkeys((itertools.accumulate, itertools.groupby), _named("iterator", "function")),
            **dict.fromkeys(
                (filter, itertools.takewhile, itertools.dropwhile, itertools.filterfalse, itertools.starmap),
                _named("function", "iterator"),
            ),
            **dict.fromkeys(
                (itertools.permutations, itertools.combinations, itertools.combinations_with_replacement),
                _named("pool", "size"),
            ),
            **dict.fromkeys((itertools.chain, itertools.zip_longest, itertools.product), _named()),
        }
    )
    if KNOWN
    else {}
)
"""Address of a type of iterators -> function that returns the fields of an iterator, without advancing it."""


# A freed iterator and a new one at its address within the same line look like one. Their positions
# distinguish them, because an iterator never goes back.

Place = tuple[int, float]
_AT_END: Place = (0, float("inf"))


def _index_place(iterator: Any) -> Place:
    parts, index = reduced(iterator)
    return _AT_END if index is None else (id(parts[0]), index)


def _reversed_place(iterator: Any) -> Place:
    parts, index = reduced(iterator)
    return _AT_END if index is None or index < 0 else (id(parts[0]), -index)


def _range_place(iterator: Any) -> Place:
    remaining = _range_left(iterator)["left"]
    return (remaining.stop, -len(remaining))


def _nested_place(iterator: Any) -> Place:
    """Position of a zip, map, filter or enumerate: that of its first inner iterator that has one."""
    positions = (place_of(inner) for inner in reduced(iterator)[0])
    return next((position for position in positions if position is not None), (0, 0))


def _hashed_place(iterator: Any) -> Place:
    fields = _hashed(iterator)
    return _AT_END if fields["over"] is None else (id(fields["over"]), -fields["left"])


PLACES: dict[int, Callable[[Any], Place]] = by_id(
    {
        **dict.fromkeys(_INDEXED, _index_place),
        _REVERSED[0]: _reversed_place,
        _RANGES[0]: _range_place,
        **dict.fromkeys(_HASHED, _hashed_place),
        **dict.fromkeys((zip, map, filter, enumerate), _nested_place),
    }
)


def place_of(iterator: Any) -> Place | None:
    """Address of an iterator's container, and its progress; None if they do not distinguish iterators."""
    read = PLACES.get(id(type(iterator)))
    return None if read is None else read(iterator)


def goes_on(iterator: Any, earlier: Place | None) -> bool:
    """Whether an object can be the one that was last seen at `earlier`."""
    now = None if earlier is None else place_of(iterator)
    if earlier is None or now is None:
        return True
    return now[1] >= earlier[1] and now[0] in (0, earlier[0])
