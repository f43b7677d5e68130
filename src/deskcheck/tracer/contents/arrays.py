"""Arrays and tables of numpy, pandas and the module `array` as data: shape, dtype, columns, first items.

They are read with the C-level descriptors of the real types, never with methods that a subclass may define,
and without importing a library. A masked item is None. Masks of single fields of structured arrays and sparse
arrays of pandas are not supported, and marked as left out.
"""

import builtins
import datetime
import itertools
import sys
import types
from typing import Any, NamedTuple

from deskcheck.tracer.contents.c_state import is_zone_info, text_of_zone
from deskcheck.tracer.contents.introspection import (
    HEAP,
    bases_of,
    declared_module_of,
    flags_of,
    inherits,
    made_by_code,
    names_of,
    names_of_module,
    qualname_of,
)

# A program may replace builtins; functions defined from here on keep the real ones.
globals()["__builtins__"] = dict(vars(builtins))

_DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType)
_TABLES = ("DataFrame", "Series", "Index")
_ARRAY = "ExtensionArray"


class ArrayColumn(NamedTuple):
    """A column, or an array as one."""

    items: list[Any]
    """The first items, as Python objects."""
    length: int
    """Number of all items."""
    dtype: str
    cut: str | None
    """Why items are missing."""


class Table(NamedTuple):
    """A pandas DataFrame."""

    shape: tuple[int, int]
    labels: ArrayColumn
    """Labels of the shown columns."""
    columns: list[ArrayColumn]
    """The shown columns."""
    row_labels: ArrayColumn
    """The index."""
    names: tuple[Any, Any]
    """Names of the index and of the columns."""


def _static(bases: tuple[type, ...], module: str, name: str) -> type | None:
    """The C class with this name among the bases of a type."""
    for base in bases:
        if not made_by_code(base) and qualname_of(base) == name and declared_module_of(base) == module:
            return base
    return None


def is_scalar(kind: type) -> bool:
    """Whether instances have a complete text: a scalar, type or function of numpy, or a date, duration,
    period, interval, offset or missing value of pandas."""
    if id(kind) in _pandas_scalars():
        return True
    if flags_of(kind) & HEAP:
        return False
    bases = bases_of(kind)
    if _static(bases, "numpy", "generic") is not None:
        return _static(bases, "numpy", "void") is None
    return any(_static(bases, "numpy", name) is not None for name in ("dtype", "ufunc"))


def scalar_text(kind: type, obj: Any) -> str | None:
    """The text of a scalar; None if it is not complete, or if code of the program would write it."""
    if not is_scalar(kind):
        return None
    bases = bases_of(kind)
    if _static(bases, "numpy", "dtype") is not None:
        return f"dtype({_dtype_text(obj)!r})"
    if _static(bases, "numpy", "ufunc") is not None:
        return f"<ufunc {_get(obj, '__name__')!r}>"
    if id(kind) not in _pandas_scalars() or _reads_quietly(obj):
        read: Any = kind.__repr__
        return str(read(obj))
    return None


_PANDAS_SCALARS = ("Timestamp", "Timedelta", "Period", "Interval")
_scalars: dict[int, frozenset[int]] = {}
"""Address of the module pandas -> addresses of its scalar types."""


def _pandas_scalars() -> frozenset[int]:
    module = sys.modules.get("pandas")
    addresses = _scalars.get(id(module)) if module is not None else frozenset()
    if addresses is None:
        names, offsets = names_of_module("pandas"), names_of_module("pandas.tseries.offsets")
        kinds = [names.get(name) for name in _PANDAS_SCALARS]
        kinds += [type(names[name]) for name in ("NaT", "NA") if name in names]
        kinds += [  # the text of a custom one leaves the calendar out
            kind for name, kind in offsets.items() if type(kind) is type and not name.startswith("Custom")
        ]
        addresses = frozenset(id(kind) for kind in kinds if kind is not None)
        if "NaT" in names and offsets:
            _scalars[id(module)] = addresses
    return addresses


def _reads_quietly(obj: Any) -> bool:
    """Whether only pandas writes the text of its scalar.

    That is so if the zone of a date and the ends of an interval are not of classes of the program.
    """
    zone = _get(obj, "tzinfo")
    ends = [_get(obj, "left"), _get(obj, "right")]
    parts = [] if zone is None else [zone]
    parts += [end for end in ends if end is not None]
    return all(
        type(part) in (int, float, datetime.timezone) or is_scalar(type(part)) or is_zone_info(type(part))
        for part in parts
    )


def is_array(bases: tuple[type, ...]) -> bool:
    """Whether a type with these bases is numpy's array."""
    return _static(bases, "numpy", "ndarray") is not None


def pandas_name(bases: tuple[type, ...]) -> str | None:
    """The kind of a pandas type: ``DataFrame``, ``Series``, ``Index`` or ``ExtensionArray``; None for others.

    An ``ExtensionArray`` is a Categorical, or an array of dates or of values that may be missing.
    """
    names = names_of_module("pandas")
    for name in _TABLES:
        kind = names.get(name)
        if kind is not None and inherits(bases, kind):
            return name
    array = names_of_module("pandas.core.arrays.base").get(_ARRAY)
    if array is None or str(declared_module_of(bases[0])).partition(".")[0] != "pandas":
        return None
    return _ARRAY if inherits(bases, array) else None


def is_array_like(bases: tuple[type, ...]) -> bool:
    """Whether this module reads instances of a type with these bases."""
    return is_array(bases) or is_void(bases) or bool(plain_array(bases) or pandas_name(bases))


def is_void(bases: tuple[type, ...]) -> bool:
    """Whether a type with these bases is an item of numpy's structured arrays, or bytes without meaning."""
    return _static(bases, "numpy", "void") is not None


def read_void(item: Any) -> ArrayColumn:
    dtype = _get(item, "dtype")
    read = next(names_of(base)["item"] for base in bases_of(type(item)) if "item" in names_of(base))
    plain = read(item) if dtype.names is None else _record(read(item), dtype)
    return ArrayColumn([plain], 1, _dtype_text(dtype), None)


def array_base(array: Any) -> Any:
    """The array whose memory an array uses; None if it has its own memory."""
    base = _get(array, "base")
    return base if is_array(bases_of(type(base))) else None


def array_shape(array: Any) -> tuple[int, ...]:
    shape: tuple[int, ...] = _get(array, "shape")
    return shape


def read_array(array: Any, limit: int) -> ArrayColumn:
    """The first items of an array of any shape, last index fastest."""
    kind: Any = _static(bases_of(type(array)), "numpy", "ndarray")
    names = names_of(kind)
    plain = array if type(array) is kind else names["view"](array, kind)
    size: int = names["size"].__get__(plain)
    flat = names["flat"].__get__(plain)
    head = type(flat).__getitem__(flat, slice(0, limit))
    dtype = names["dtype"].__get__(plain)
    if dtype.kind == "M":  # as text: Python has no nanoseconds
        head = names["astype"](head, "U")
    items: list[Any]
    if dtype.kind == "m":  # numpy cuts a duration that it makes to an array of texts
        items = [str(names["__getitem__"](head, index)) for index in range(len(head))]
    else:
        items = names["tolist"](head)
    if dtype.names is not None:
        items = [_record(item, dtype) for item in items]
    elif (mask := _mask(array)) is not None:
        hidden = read_array(mask, limit).items
        items = [None if masked else item for item, masked in zip(items, hidden, strict=True)]
    return ArrayColumn(items, size, _dtype_text(dtype), "long" if size > limit else None)


def _is_masked(array: Any) -> bool:
    masked = names_of_module("numpy.ma").get("MaskedArray")
    return masked is not None and inherits(bases_of(type(array)), masked)


def _mask(array: Any) -> Any:
    """The mask of a masked array, which has the same shape; None without a mask."""
    if not _is_masked(array):
        return None
    mask = _get(array, "_mask")
    fits = is_array(bases_of(type(mask))) and array_shape(mask) == array_shape(array)
    return mask if fits else None


def plain_array(bases: tuple[type, ...]) -> type | None:
    """`array.array`, if a type with these bases is one."""
    return _static(bases, "array", "array")


def read_plain_array(array: Any, kind: type, limit: int) -> ArrayColumn:
    """The first items of an `array.array`, up to `limit`.

    kind: the result of `plain_array` for its type. The dtype has numpy's name, such as int32 for the code
    ``i``.
    """
    names = names_of(kind)
    length: int = names["__len__"](array)
    code: str = names["typecode"].__get__(array)
    kind_of_number = "float" if code in "fd" else "int" if code.islower() else "uint"
    dtype = "str" if code in "uw" else f"{kind_of_number}{8 * names['itemsize'].__get__(array)}"
    head = names["__getitem__"](array, slice(0, limit))
    return ArrayColumn(names["tolist"](head), length, dtype, "long" if length > limit else None)


def _record(item: Any, dtype: Any) -> Any:
    """An item of a structured array, with tuples for the arrays in its fields.

    numpy returns these arrays as views of a temporary copy.
    """
    if dtype.subdtype is not None:
        array = names_of(_static(bases_of(type(item)), "numpy", "ndarray"))
        return _nested(array["tolist"](item), dtype.base)
    if dtype.names is None:
        return item
    kinds = (dtype.fields[name][0] for name in dtype.names)
    return tuple(_record(part, kind) for part, kind in zip(item, kinds, strict=True))


def _nested(items: Any, dtype: Any) -> Any:
    if type(items) is list:
        return tuple(_nested(item, dtype) for item in items)
    return _record(items, dtype)


def _dtype_text(dtype: Any) -> str:
    if dtype.subdtype is not None:
        return f"{_dtype_text(dtype.base)}{list(dtype.shape)}"
    if dtype.names is not None:
        fields = ((name, dtype.fields[name]) for name in dtype.names)
        return "{" + ", ".join(f"{name}: {_dtype_text(field[0])}" for name, field in fields) + "}"
    if dtype.kind in "biufcO" and dtype.isnative:
        return str(qualname_of(dtype.type)).rstrip("_")
    text: str = dtype.str
    if dtype.kind in "mM":
        return ("datetime64" if dtype.kind == "M" else "timedelta64") + text[3:]
    return text


def _get(obj: Any, name: str) -> Any:
    """An attribute from C code or the instance's dict; None if it does not exist."""
    for base in bases_of(type(obj)):
        descriptor = names_of(base).get(name)
        if type(descriptor) in _DESCRIPTORS:
            return descriptor.__get__(obj)
    for base in bases_of(type(obj)):
        descriptor = names_of(base).get("__dict__")
        if type(descriptor) is types.GetSetDescriptorType:
            return descriptor.__get__(obj).get(name)
    return None


def read_table(frame: Any, limit: int) -> Table | None:
    """A DataFrame with about `limit` of its cells, and at least one row; None if it cannot be read."""
    manager = _get(frame, "_mgr")
    axes, blocks = _get(manager, "axes"), _get(manager, "blocks")
    if type(axes) is not list or len(axes) != 2 or type(blocks) is not tuple:
        return None
    labels = read_index(axes[0], limit)
    rows = max(1, limit // max(1, len(labels.items)))
    index = read_index(axes[1], rows)
    columns: dict[int, ArrayColumn] = {}
    for block in blocks:
        values, numbers = _get(block, "values"), _get(_get(block, "_mgr_locs"), "as_array")
        if not is_array(bases_of(type(numbers))):
            return None
        for row, number in enumerate(read_array(numbers, labels.length).items):
            if number < limit:
                columns[number] = _read_values(values, rows, row, index.length)
    shown_columns = list(itertools.islice(sorted(columns), len(labels.items)))
    names = index_name(axes[1]), index_name(axes[0])
    return Table(
        (index.length, labels.length), labels, [columns[number] for number in shown_columns], index, names
    )


def read_series(series: Any, limit: int) -> tuple[ArrayColumn, ArrayColumn, Any] | None:
    """The values of a Series, its index and its name; None if it cannot be read."""
    manager = _get(series, "_mgr")
    axes, blocks = _get(manager, "axes"), _get(manager, "blocks")
    if type(axes) is not list or len(axes) != 1 or type(blocks) is not tuple or len(blocks) != 1:
        return None
    index = read_index(axes[0], limit)
    return _read_values(_get(blocks[0], "values"), limit, 0, index.length), index, _get(series, "_name")


def read_extension(array: Any, limit: int) -> ArrayColumn | None:
    """The items of a pandas array; None if it cannot be read."""
    column = _read_values(array, limit, 0, 0)
    return None if column.cut == "opaque" else column


def read_index(index: Any, limit: int) -> ArrayColumn:
    """The labels of an Index."""
    numbers = _get(index, "_range")
    if type(numbers) is range:
        return ArrayColumn(
            list(numbers[:limit]), len(numbers), "range", "long" if len(numbers) > limit else None
        )
    codes, levels = _get(index, "_codes"), _get(index, "_levels")
    if codes is not None and levels is not None:  # of a hierarchical index: lists, one item for each level
        return _read_levels([*list.__iter__(codes)], [*list.__iter__(levels)], limit)
    return _read_values(_get(index, "_data"), limit, 0, 0)


def _read_levels(codes: list[Any], levels: list[Any], limit: int) -> ArrayColumn:
    """The labels of a hierarchical index: tuples."""
    columns, cut = [], None
    length = array_shape(codes[0])[0] if codes else 0
    for code, level in zip(codes, levels, strict=True):
        indices = read_array(code, limit).items
        labels = read_index(level, max(indices, default=-1) + 1)
        if labels.cut == "opaque":
            return ArrayColumn([], length, "MultiIndex", "opaque")
        columns.append([labels.items[index] if index >= 0 else None for index in indices])
    cut = "long" if length > limit else None
    return ArrayColumn([*zip(*columns, strict=True)], length, "MultiIndex", cut)


def index_name(index: Any) -> Any:
    """The name of an index; for a hierarchical index a tuple of names, or None if all are None."""
    several = _get(index, "_names")
    if type(several) is list:
        return tuple(several) if any(name is not None for name in several) else None
    return _get(index, "_name")


def frequency(index: Any) -> str | None:
    """The frequency of an index of dates or durations, or None."""
    rule = _get(index, "_freq")
    if rule is None:
        rule = _get(_get(index, "_data"), "_freq")
    return scalar_text(type(rule), rule) if rule is not None else None


def besides(table: Any) -> dict[str, Any]:
    """Attributes and flags of a Series or DataFrame that are not the default."""
    attrs, unique = _get(table, "_attrs"), _get(_get(table, "_flags"), "_allows_duplicate_labels")
    fields: dict[str, Any] = {}
    if type(attrs) is dict and attrs:
        fields["attrs"] = attrs
    if unique is False:
        fields["allows_duplicate_labels"] = False
    return fields


def fill_value(array: Any) -> Any:
    """The fill value of a masked array; None for the default."""
    fill = _get(array, "_fill_value") if _is_masked(array) else None
    if fill is None or not is_array(bases_of(type(fill))):
        return None
    return read_array(fill, 1).items[0]


def _read_values(values: Any, limit: int, row: int, length: int) -> ArrayColumn:
    """One column: `row` of a two-dimensional block, or a pandas array. `length` is used if it cannot be
    read."""
    bases = bases_of(type(values))
    if is_array(bases):
        if len(array_shape(values)) == 2:
            values = names_of(_static(bases, "numpy", "ndarray"))["__getitem__"](values, row)
        return read_array(values, limit)
    if is_array(bases_of(type(backing := _get(values, "_ndarray")))):
        column = _read_values(backing, limit, row, length)
        dtype = _get(values, "_dtype")
        zone = _get(dtype, "_tz")
        if zone is not None:  # the times are in UTC
            text = text_of_zone(zone)
            named = column._replace(dtype=f"{column.dtype[:-1]}, {text or 'tz'}] in UTC")
            return named if text is not None else named._replace(cut=column.cut or "opaque")
        categories = _get(dtype, "_categories")
        if categories is None:
            rule = _get(dtype, "_freq")
            if rule is None:
                return column
            return column._replace(dtype=f"period[{_get(dtype, '_freqstr')}] as ordinals")
        return _categorical(column, read_index(categories, limit), _get(dtype, "_ordered"))
    left_ends, right_ends = _get(values, "_left"), _get(values, "_right")
    if (
        left_ends is not None
        and right_ends is not None
        and _get(_get(values, "_dtype"), "_closed") is not None
    ):
        low, high = (_read_any(end, limit) for end in (left_ends, right_ends))
        dtype = f"interval[{low.dtype}, {_get(_get(values, '_dtype'), '_closed')}]"
        return low._replace(items=[*zip(low.items, high.items, strict=True)], dtype=dtype)
    data, mask, chunks = (_get(values, name) for name in ("_data", "_mask", "_pa_array"))
    if is_array(bases_of(type(data))) and is_array(bases_of(type(mask))):
        column, masked = read_array(data, limit), read_array(mask, limit).items
        visible_items = [None if hidden else item for item, hidden in zip(column.items, masked, strict=True)]
        return column._replace(items=visible_items, dtype=_nullable(column.dtype))
    kind = _static(bases_of(type(chunks)), "pyarrow.lib", "ChunkedArray")
    if kind is not None:
        names = names_of(kind)
        size = names["__len__"](chunks)
        items = names["to_pylist"](names["slice"](chunks, 0, limit))
        text = str(names["type"].__get__(chunks))
        dtype = "str" if text in ("string", "large_string") else f"{text}[pyarrow]"
        return ArrayColumn(items, size, dtype, "long" if size > limit else None)
    return ArrayColumn([], length, str(qualname_of(type(values))), "opaque")


def _categorical(codes: ArrayColumn, categories: ArrayColumn, ordered: Any) -> ArrayColumn:
    """The categories of these codes. The dtype lists all categories."""
    every = categories.items
    in_range = all(code < len(every) for code in codes.items)
    plain = categories.cut is None and all(type(category) in (str, int, float, bool) for category in every)
    joined = (" < " if ordered else ", ").join(map(repr, every)) if plain else "..."
    items = [every[code] if code >= 0 else None for code in codes.items] if in_range else []
    return codes._replace(
        items=items,
        dtype=f"category[{joined}]",
        cut=codes.cut if plain and in_range else codes.cut or "opaque",
    )


def _read_any(values: Any, limit: int) -> ArrayColumn:
    index = pandas_name(bases_of(type(values))) == "Index"
    return read_index(values, limit) if index else _read_values(values, limit, 0, 0)


def _nullable(dtype: str) -> str:
    """The name in pandas of a dtype with missing values: ``Int64``, ``UInt8``, ``boolean``."""
    if dtype == "bool":
        return "boolean"
    return f"U{dtype[1:].capitalize()}" if dtype.startswith("u") else dtype.capitalize()


def memory(obj: Any) -> list[Any]:
    """The numpy arrays with the values of an array, Series, Index or DataFrame.

    Values in pyarrow's memory and the labels of a DataFrame are not included.
    """
    arrays: list[Any] = []
    todo = [obj]
    while todo:
        holder = todo.pop()
        bases = bases_of(type(holder))
        if is_array(bases):
            arrays.append(holder)
            continue
        if pandas_name(bases) in ("DataFrame", "Series"):
            blocks = _get(_get(holder, "_mgr"), "blocks")
            todo += [_get(block, "values") for block in blocks] if type(blocks) is tuple else []
        else:
            parts = (_get(holder, name) for name in ("_ndarray", "_data", "_mask"))
            todo += [part for part in parts if part is not None]
    return arrays


def beside(obj: Any) -> list[Any]:
    """Parts of an array, Series, Index or DataFrame besides items and labels, if they are not the default.

    These are the names of its axes, `attrs`, and the mask of a masked array.
    """
    bases = bases_of(type(obj))
    values: list[Any] = []
    if is_array(bases):
        mask = _get(obj, "_mask")
        return [mask] if is_array(bases_of(type(mask))) and array_shape(mask) else []
    name = pandas_name(bases)
    if name is None:
        return []
    if name != "Index":
        axes = _get(_get(obj, "_mgr"), "axes")
        attrs = _get(obj, "_attrs")
        values += list.__iter__(axes) if type(axes) is list else ()
        if type(attrs) is dict and attrs:
            return [attrs, *_names_of_axes(values)]
        return _names_of_axes(values)
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
    """Memory size of the items of an array; for objects, that of the pointers."""
    size: int = _get(array, "nbytes")
    return size


def sample(array: Any, limit: int) -> tuple[bytes, bool]:
    """Bytes of an array's items in order, and whether these are all items.

    For an array with more than `limit` items these are the first, the last and some at equal distances.
    Raises ValueError for an array of objects.
    """
    kind: Any = _static(bases_of(type(array)), "numpy", "ndarray")
    names = names_of(kind)
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
    slices = (slice(0, part), slice(size - part, size), slice(0, size, size // part + 1))
    return b"".join(names["tobytes"](take(flat, part_slice)) for part_slice in slices), False
