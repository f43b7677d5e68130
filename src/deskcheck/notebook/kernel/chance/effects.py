"""What functions, methods and attributes do to a value, by their names: what of it they keep, what they do
with its order, and what they tell of it but its items. `shown` and `fixed` read this one table, and
`harmless` what changes a collection."""

# -- builtins ----------------------------------------------------------------------------------------------

TEXTS = frozenset({"str", "repr", "ascii", "format"})
"""They give a text of what they are given."""
ORDERED = frozenset({"list", "tuple", "iter", "enumerate", "next"})
"""They keep the order of a set."""
_NUMBERS = frozenset({"int", "float", "round", "abs", "bool", "bytes", "reversed"})
KEEPING = TEXTS | ORDERED | _NUMBERS | {"hex", "bin", "oct", "divmod", "ord", "chr"}
"""Their result is another where what they are given is."""
FORMING = _NUMBERS | (ORDERED - {"next"}) | {"complex", "zip", "map", "bytearray", "dict"}
"""Their result has the form of what they are given."""
KEEPING_DRAWN = frozenset({"any", "all", "sum", "max", "min"})
"""They keep what was drawn, whatever its order."""
OF_ITEMS = KEEPING_DRAWN | {"len", "sorted", "set", "frozenset"}
"""Their result does not depend on the order of what they are given."""

# -- methods of arrays, data frames and sets, and functions of numpy ----------------------------------------

OF_ANY_ORDER = frozenset(
    {"count", "sum", "min", "max", "mean", "median", "any", "all", "nunique", "prod", "std", "var", "size"}
)
"""Their result does not depend on the order, but for last digits."""
SORTING = OF_ANY_ORDER | {"sort", "unique", "amax", "amin"}
"""Functions of numpy of which the same is true."""
TYPES = frozenset({"dtype", "ndim", "columns", "requires_grad", "device"})
"""Attributes that follow from the form of a value, and that few computations change."""
FORMS = TYPES | {"shape", "size", "dtypes", "nbytes", "itemsize"}
"""Attributes that follow from the form of a value."""
MEASURES = frozenset({"numel", "dim", "size", "element_size", "stride", "info"})
"""Methods that do."""
NO_VALUES = FORMS | MEASURES | {"strides", "flags", "index", "keys", "name", "names", "tzinfo"}
"""Attributes and methods that do not tell the values."""
WHOLE = frozenset({"iloc", "loc", "iat", "at", "values", "T"})
"""Attributes of a data frame that have all of its columns."""
SAME_FORM = WHOLE | {"data", "real", "imag", "flat"}
"""Attributes whose form is that of the whole, or follows from it."""
WITH_INDEX = frozenset({"copy", "to_frame", "to_dict", "items", "to_string", "head", "tail", "rename"})
"""Methods of a series whose result has its index."""
TAKING_IN = frozenset({"map", "replace", "assign", "fillna", "join", "merge"})
"""Methods of pandas whose result has what they are given."""
CHOOSING = frozenset(
    {"unique", "nonzero", "where", "argwhere", "flatnonzero", "compress", "extract", "query", "filter"}
    | {"isin", "dropna", "drop_duplicates", "value_counts", "groupby", "masked_select", "trim_zeros"}
    | {"bincount", "intersect1d", "setdiff1d", "union1d", "unique_consecutive", "split", "strip", "replace"}
    | {"findall", "groups", "merge", "get_dummies", "pivot", "pivot_table", "crosstab", "mode", "resize"}
    | {"repeat", "repeat_interleave", "arange", "zeros", "ones", "full", "empty", "linspace", "eye", "cut"}
    | {"qcut", "index_select", "tabulate", "fit_transform", "fit_predict", "find_peaks", "drop", "explode"}
    | {"head", "tail"}
)
"""Functions and methods that choose by the values, or whose result is as long as what they are given says."""

# -- collections -------------------------------------------------------------------------------------------

ORDERED_INSIDE = frozenset({"Counter", "OrderedDict", "deque", "fromkeys"})
"""Classes and methods that keep the order of a set, and whose own text a normaliser can sort."""
GROWING_IN_ORDER = frozenset({"append", "extend", "insert", "appendleft"})
"""Methods that put what they are given at a place of a list."""
GROWING = GROWING_IN_ORDER | {"add", "update"}
"""Methods that put what they are given into a list, set or dict."""
CHANGING = GROWING | {"pop", "remove", "sort", "reverse", "clear", "discard", "setdefault"}
"""Methods that change what they are of."""
GIVING_NONE = CHANGING - {"pop", "setdefault"}
"""Those of lists, sets and dicts that return None."""

# -- generators, and packages ------------------------------------------------------------------------------

CHOICES = frozenset({"choice", "choices", "sample"})
"""They draw some of what they are given: by its order, with a seed too."""
PERMUTING = frozenset({"permutation", "permuted", "randperm"})
"""They draw an order."""
ARRAYS = frozenset({"numpy", "pandas", "torch", "scipy", "sklearn"})
"""Packages whose functions give something of the form of what they are given, but for `CHOOSING`."""
OF_VALUES = (
    ARRAYS
    | {"math", "cmath", "statistics", "fractions", "decimal", "operator", "_operator", "posixpath", "json"}
    | {"hashlib", "_hashlib", "zlib", "base64", "binascii", "struct", "_struct"}
)
"""Packages whose functions and classes give something else where what they are given is."""
