"""Arrays and tables as data: shape, dtype, columns and the first items. Those of numpy, those of the module
`array`, and the tables, series, indexes and arrays of pandas.

They are read as they lie in memory: through the C-level descriptors of the real types (a class made by
running code cannot pass for one), never through methods that a subclass may define. None of them is
imported. Only what is shown is copied.

An item that a masked array masks is None, as its own `tolist` has it. Not: masks of single fields of
structured arrays; pandas' sparse and interval arrays and hierarchical indexes, which are marked as
left out.
"""

import builtins
import itertools
import sys
import types
from typing import Any, NamedTuple

# A program may replace builtins; functions defined from here on keep the real ones.
globals()["__builtins__"] = dict(vars(builtins))

_mro = type.__dict__["__mro__"].__get__
_namespace = type.__dict__["__dict__"].__get__
_module_dict = vars(types.ModuleType)["__dict__"].__get__
_qualname = type.__dict__["__qualname__"].__get__
_flags = type.__dict__["__flags__"].__get__
_module = type.__dict__["__module__"].__get__


def module_of(kind: type) -> Any:
    """The module of a class, by its own word."""
    return _module(kind)


_HEAP = 1 << 9
_IMMUTABLE = 1 << 8
"""Of a type on the heap: C code made it. No class statement gives this flag."""
_DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType)
_TABLES = ("DataFrame", "Series", "Index")
_ARRAY = "ExtensionArray"


class ArrayColumn(NamedTuple):
    """items: the first ones, as Python objects. length: how many there are. cut: why some are missing."""

    items: list[Any]
    length: int
    dtype: str
    cut: str | None


class Table(NamedTuple):
    """A pandas DataFrame. columns: as many as are shown, with their labels; row_labels: its index."""

    shape: tuple[int, int]
    labels: list[Any]
    columns: list[ArrayColumn]
    row_labels: ArrayColumn


def _static(bases: tuple[type, ...], module: str, name: str) -> type | None:
    """The class written in C of that name, among the bases of a type."""
    for base in bases:
        made_by_code = _flags(base) & _HEAP and not _flags(base) & _IMMUTABLE
        if not made_by_code and _qualname(base) == name and _module(base) == module:
            return base
    return None


def is_scalar(kind: type) -> bool:
    """Whether it is a type of numpy's scalars, whose text says everything."""
    if _flags(kind) & _HEAP:
        return False
    bases = _mro(kind)
    return _static(bases, "numpy", "generic") is not None and _static(bases, "numpy", "void") is None


def is_array(bases: tuple[type, ...]) -> bool:
    """Whether a type with these bases is numpy's array."""
    return _static(bases, "numpy", "ndarray") is not None


def pandas_name(bases: tuple[type, ...]) -> str | None:
    """``DataFrame``, ``Series``, ``Index`` or ``ExtensionArray`` (a Categorical, an array of dates or of what
    may be missing): which of pandas' a type with these bases is."""
    names = _names_of_module("pandas")
    for name in _TABLES:
        kind = names.get(name)
        if kind is not None and any(base is kind for base in bases):
            return name
    array = _names_of_module("pandas.core.arrays.base").get(_ARRAY)
    pandas_own = array is not None and str(_module(bases[0])).partition(".")[0] == "pandas"
    return _ARRAY if pandas_own and any(base is array for base in bases) else None


def _names_of_module(name: str) -> dict[str, Any]:
    module = sys.modules.get(name)
    return _module_dict(module) if type(module) is types.ModuleType else {}


def array_base(array: Any) -> Any:
    """The array whose memory an array shows, if it is not its own."""
    base = _get(array, "base")
    return base if is_array(_mro(type(base))) else None


def array_shape(array: Any) -> tuple[int, ...]:
    shape: tuple[int, ...] = _get(array, "shape")
    return shape


def read_array(array: Any, limit: int) -> ArrayColumn:
    """The first items of an array of any shape, last index fastest."""
    kind: Any = _static(_mro(type(array)), "numpy", "ndarray")
    names = _namespace(kind)
    plain = array if type(array) is kind else names["view"](array, kind)
    size: int = names["size"].__get__(plain)
    flat = names["flat"].__get__(plain)
    head = type(flat).__getitem__(flat, slice(0, limit))
    dtype = names["dtype"].__get__(plain)
    if dtype.kind == "M":  # as text: Python has no nanoseconds
        head = names["astype"](head, "U")
    items: list[Any]
    if dtype.kind == "m":  # numpy cuts a duration that it makes to an array of texts
        items = [str(names["__getitem__"](head, place)) for place in range(len(head))]
    else:
        items = names["tolist"](head)
    if dtype.names is not None:
        items = [_record(item, dtype, names["tolist"]) for item in items]
    elif (mask := _mask(array)) is not None:
        hidden = read_array(mask, limit).items
        items = [None if masked else item for item, masked in zip(items, hidden, strict=True)]
    return ArrayColumn(items, size, _dtype_text(dtype), "long" if size > limit else None)


def _mask(array: Any) -> Any:
    """The mask of a masked array, an array of its shape; None where there is none."""
    module = sys.modules.get("numpy.ma")
    if type(module) is not types.ModuleType:
        return None
    masked = _module_dict(module).get("MaskedArray")
    if masked is None or not any(base is masked for base in _mro(type(array))):
        return None
    mask = _get(array, "_mask")
    fits = is_array(_mro(type(mask))) and array_shape(mask) == array_shape(array)
    return mask if fits else None


def plain_array(bases: tuple[type, ...]) -> type | None:
    """`array.array`, if a type with these bases is one."""
    return _static(bases, "array", "array")


def read_plain_array(array: Any, kind: type, limit: int) -> ArrayColumn:
    """The first items, at most `limit`, of an `array.array`. kind: what `plain_array` gave for its type. The
    dtype is named as numpy's: int32 of the type code ``i``."""
    names = _namespace(kind)
    length: int = names["__len__"](array)
    code: str = names["typecode"].__get__(array)
    kind_of_number = "float" if code in "fd" else "int" if code.islower() else "uint"
    dtype = "str" if code in "uw" else f"{kind_of_number}{8 * names['itemsize'].__get__(array)}"
    head = names["__getitem__"](array, slice(0, limit))
    return ArrayColumn(names["tolist"](head), length, dtype, "long" if length > limit else None)


def _record(item: Any, dtype: Any, to_list: Any) -> Any:
    """An item of a structured array, with tuples for the arrays in its fields: numpy gives views of the copy
    that was made to look at it."""
    if dtype.subdtype is not None:
        return _nested(to_list(item), dtype.base, to_list)
    if dtype.names is None:
        return item
    kinds = (dtype.fields[name][0] for name in dtype.names)
    return tuple(_record(part, kind, to_list) for part, kind in zip(item, kinds, strict=True))


def _nested(items: Any, dtype: Any, to_list: Any) -> Any:
    if type(items) is list:
        return tuple(_nested(item, dtype, to_list) for item in items)
    return _record(items, dtype, to_list)


def _dtype_text(dtype: Any) -> str:
    if dtype.kind in "biufcO" and dtype.isnative:
        return str(_qualname(dtype.type)).rstrip("_")
    text: str = dtype.str
    if dtype.kind in "mM":
        return ("datetime64" if dtype.kind == "M" else "timedelta64") + text[3:]
    return text


def _get(obj: Any, name: str) -> Any:
    """An attribute that C code or the instance's own dict holds; None if there is none."""
    for base in _mro(type(obj)):
        descriptor = _namespace(base).get(name)
        if type(descriptor) in _DESCRIPTORS:
            return descriptor.__get__(obj)
    for base in _mro(type(obj)):
        descriptor = _namespace(base).get("__dict__")
        if type(descriptor) is types.GetSetDescriptorType:
            return descriptor.__get__(obj).get(name)
    return None


def read_table(frame: Any, limit: int) -> Table | None:
    """A DataFrame, of which about `limit` cells are shown, at least one row; None if we cannot read it."""
    manager = _get(frame, "_mgr")
    axes, blocks = _get(manager, "axes"), _get(manager, "blocks")
    if type(axes) is not list or len(axes) != 2 or type(blocks) is not tuple:
        return None
    labels = read_index(axes[0], limit)
    rows = max(1, limit // max(1, len(labels.items)))
    index = read_index(axes[1], rows)
    columns: dict[int, ArrayColumn] = {}
    for block in blocks:
        values, places = _get(block, "values"), _get(_get(block, "_mgr_locs"), "as_array")
        if not is_array(_mro(type(places))):
            return None
        for row, place in enumerate(read_array(places, labels.length).items):
            if place < limit:
                columns[place] = _read_values(values, rows, row, index.length)
    shown = list(itertools.islice(sorted(columns), len(labels.items)))
    return Table((index.length, labels.length), labels.items, [columns[place] for place in shown], index)


def read_series(series: Any, limit: int) -> tuple[ArrayColumn, ArrayColumn, Any] | None:
    """The values of a Series, its index and its name; None if it is none that we can read."""
    manager = _get(series, "_mgr")
    axes, blocks = _get(manager, "axes"), _get(manager, "blocks")
    if type(axes) is not list or len(axes) != 1 or type(blocks) is not tuple or len(blocks) != 1:
        return None
    index = read_index(axes[0], limit)
    return _read_values(_get(blocks[0], "values"), limit, 0, index.length), index, _get(series, "_name")


def read_extension(array: Any, limit: int) -> ArrayColumn | None:
    """The items of an array of pandas' own; None if it is none that we can read."""
    column = _read_values(array, limit, 0, 0)
    return None if column.cut == "opaque" else column


def read_index(index: Any, limit: int) -> ArrayColumn:
    """The labels of an Index."""
    numbers = _get(index, "_range")
    if type(numbers) is range:
        return ArrayColumn(
            list(numbers[:limit]), len(numbers), "range", "long" if len(numbers) > limit else None
        )
    codes = _get(index, "_codes")
    if codes is not None:  # of a hierarchical index: a list of arrays, one for each level
        length = array_shape(list.__getitem__(codes, 0))[0] if list.__len__(codes) else 0
        return ArrayColumn([], length, str(_qualname(type(index))), "opaque")
    return _read_values(_get(index, "_data"), limit, 0, 0)


def index_name(index: Any) -> Any:
    return _get(index, "_name")


def _read_values(values: Any, limit: int, row: int, length: int) -> ArrayColumn:
    """One column: `row` of a two-dimensional block, or an array of pandas' own. `length` is for one that
    cannot be read."""
    bases = _mro(type(values))
    if is_array(bases):
        if len(array_shape(values)) == 2:
            values = _namespace(_static(bases, "numpy", "ndarray"))["__getitem__"](values, row)
        return read_array(values, limit)
    if is_array(_mro(type(backing := _get(values, "_ndarray")))):
        found = _read_values(backing, limit, row, length)
        dtype = _get(values, "_dtype")
        if _get(dtype, "_tz") is not None:  # the times are in UTC
            return found._replace(dtype=f"{found.dtype[:-1]}, tz] in UTC")
        categories = _get(dtype, "_categories")
        if categories is None:
            is_period = _get(dtype, "_freq") is not None
            return found._replace(dtype="period as ordinals") if is_period else found
        every = read_index(categories, max(found.items, default=-1) + 1).items
        named = [every[code] if code >= 0 else None for code in found.items]
        return found._replace(items=named, dtype="category")
    data, mask, chunks = (_get(values, name) for name in ("_data", "_mask", "_pa_array"))
    if is_array(_mro(type(data))) and is_array(_mro(type(mask))):
        found, masked = read_array(data, limit), read_array(mask, limit).items
        shown = [None if hidden else item for item, hidden in zip(found.items, masked, strict=True)]
        return found._replace(items=shown, dtype=_nullable(found.dtype))
    kind = _static(_mro(type(chunks)), "pyarrow.lib", "ChunkedArray")
    if kind is not None:
        names = _namespace(kind)
        size = names["__len__"](chunks)
        items = names["to_pylist"](names["slice"](chunks, 0, limit))
        text = str(names["type"].__get__(chunks))
        dtype = "str" if text in ("string", "large_string") else f"{text}[pyarrow]"
        return ArrayColumn(items, size, dtype, "long" if size > limit else None)
    return ArrayColumn([], length, str(_qualname(type(values))), "opaque")


def _nullable(dtype: str) -> str:
    """pandas' name of a dtype that knows missing values: ``Int64``, ``UInt8``, ``boolean``."""
    if dtype == "bool":
        return "boolean"
    return f"U{dtype[1:].capitalize()}" if dtype.startswith("u") else dtype.capitalize()


def memory(obj: Any) -> list[Any]:
    """The arrays of numpy that hold what an array, Series, Index or DataFrame holds, as far as we can read
    it: not what pyarrow holds, nor the labels of a DataFrame."""
    found: list[Any] = []
    todo = [obj]
    while todo:
        each = todo.pop()
        bases = _mro(type(each))
        if is_array(bases):
            found.append(each)
            continue
        if pandas_name(bases) in ("DataFrame", "Series"):
            blocks = _get(_get(each, "_mgr"), "blocks")
            todo += [_get(block, "values") for block in blocks] if type(blocks) is tuple else []
        else:
            parts = (_get(each, name) for name in ("_ndarray", "_data", "_mask"))
            todo += [part for part in parts if part is not None]
    return found


def beside(obj: Any) -> list[Any]:
    """What an array, Series, Index or DataFrame holds that neither its items nor its labels show: names of
    its axes, `attrs`, the mask of a masked array; empty where there is nothing but the default."""
    bases = _mro(type(obj))
    found: list[Any] = []
    if is_array(bases):
        mask = _get(obj, "_mask")
        return [mask] if is_array(_mro(type(mask))) and array_shape(mask) else []
    name = pandas_name(bases)
    if name is None:
        return []
    if name != "Index":
        axes = _get(_get(obj, "_mgr"), "axes")
        attrs = _get(obj, "_attrs")
        found += list.__iter__(axes) if type(axes) is list else ()
        if type(attrs) is dict and attrs:
            return [attrs, *_names_of_axes(found)]
        return _names_of_axes(found)
    return _names_of_axes([obj])


def _names_of_axes(axes: list[Any]) -> list[Any]:
    names: list[Any] = []
    for axis in axes:
        several = _get(axis, "_names")  # of a hierarchical index
        names.append([*several] if type(several) is list else _get(axis, "_name"))
    plain = all(
        name is None or (type(name) is list and not any(n is not None for n in name)) for name in names
    )
    return [] if plain else names


def size_bytes(array: Any) -> int:
    """What the items of an array take in memory; for objects, their pointers."""
    size: int = _get(array, "nbytes")
    return size


def sample(array: Any, limit: int) -> tuple[bytes, bool]:
    """Bytes of an array's items, in order, and whether they are all: of one with more than `limit` items the
    first, the last and some at equal distances. Raises ValueError for one of objects."""
    kind: Any = _static(_mro(type(array)), "numpy", "ndarray")
    names = _namespace(kind)
    plain = array if type(array) is kind else names["view"](array, kind)
    dtype = names["dtype"].__get__(plain)
    if dtype.hasobject:
        raise ValueError("an array of objects")
    size: int = names["size"].__get__(plain)
    if size <= limit:
        return names["tobytes"](plain), True
    flat = names["flat"].__get__(plain)
    part = max(1, limit // 3)
    take = type(flat).__getitem__
    places = (slice(0, part), slice(size - part, size), slice(0, size, size // part + 1))
    return b"".join(names["tobytes"](take(flat, place)) for place in places), False
