"""Differences between two outputs that say nothing about the work: named rules that change texts.

A rule removes what its name says and keeps the rest: numbers, words, how many things there are, which are one
object. Rules that undo a change of form between versions of a library are used only if exactly one of the two
texts has the form. Not covered: random numbers, other defaults of a library, reworded messages, what other
programs print.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from deskcheck.notebook.kernel.repeats import Text


@dataclass(frozen=True, slots=True)
class Normaliser:
    """A rule. forms: patterns of a library's versions; the rule is used if exactly one of the two texts has
    one of them. None: it is always used."""

    name: str
    rule: Callable[[str], str]
    forms: tuple[re.Pattern[str], ...] | None = None

    def __call__(self, stored: str, fresh: str) -> tuple[str, str]:
        """Both texts, by the rule."""
        if self.forms is not None and not any(
            bool(f.search(stored)) != bool(f.search(fresh)) for f in self.forms
        ):
            return stored, fresh
        return self.rule(stored), self.rule(fresh)


def same_after(
    stored: Text, fresh: Text, normalisers: Sequence[Normaliser] | None = None
) -> tuple[str, ...] | None:
    """Names of the smallest set of normalisers after which two texts are equal.

    The set is empty if the texts are equal without rules, and None if they differ after all rules. Among
    equally small sets, the first in the order of `NORMALISERS` is returned. For long texts, it is a set
    without a superfluous rule, perhaps not the smallest. Texts of more than `MOST_CHARS` together give None.
    """
    if stored == fresh:
        return ()
    pairs = _pairs(stored, fresh)
    if pairs is None or sum(len(a) + len(b) for a, b in pairs) > MOST_CHARS:
        return None
    candidates: list[Normaliser] = []
    remaining = pairs
    for normaliser in NORMALISERS if normalisers is None else normalisers:
        after = [normaliser(a, b) for a, b in remaining]
        if after != remaining:
            candidates.append(normaliser)
        remaining = after
    if not _equal(remaining):
        return None
    if sum(len(a) + len(b) for a, b in pairs) > _LONG:
        for candidate in candidates[::-1]:
            others = [rule for rule in candidates if rule is not candidate]
            candidates = others if _equal(_apply(others, pairs)) else candidates
        return tuple(candidate.name for candidate in candidates)
    for size in range(1, len(candidates)):
        for chosen in itertools.combinations(candidates, size):
            if _equal(_apply(chosen, pairs)):
                return tuple(candidate.name for candidate in chosen)
    return tuple(candidate.name for candidate in candidates)


MOST_CHARS = 4 << 20
"""A run keeps a quarter of that. A longer text is stored, and no rule shortens it so much."""
_LONG = 100_000
"""Characters, beyond which trying every set would take too long."""


def _pairs(stored: Text, fresh: Text) -> list[tuple[str, str]] | None:
    """The corresponding texts; None if one side lacks some."""
    if len(stored.plain) != len(fresh.plain):
        return None
    pairs = [(stored.stdout, fresh.stdout), *zip(stored.plain, fresh.plain, strict=True)]
    if stored.error is None or fresh.error is None:
        return pairs if stored.error is fresh.error else None
    return None if stored.error[0] != fresh.error[0] else [*pairs, (stored.error[1], fresh.error[1])]


def _apply(chosen: Iterable[Normaliser], pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    for normaliser in chosen:
        pairs = [normaliser(a, b) for a, b in pairs]
    return pairs


def _equal(pairs: Iterable[tuple[str, str]]) -> bool:
    return all(a == b for a, b in pairs)


# -- the rules -------------------------------------------------------------------------------------


def terminal_codes(text: str) -> str:
    """Leaves out colours, and text that a carriage return overwrites."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text).replace("\r\n", "\n")
    return re.sub(r"^.*\r(?=[^\n])", "", text, flags=re.MULTILINE).replace("\r", "")


def address(text: str) -> str:
    """``at 0x7f3c``: addresses are numbered by first sight, so that one object stays one."""
    numbers: dict[str, int] = {}
    return re.sub(
        r"\bat 0x([0-9A-Fa-f]{4,})\b",
        lambda match: f"at 0x#{numbers.setdefault(match[1].lower(), len(numbers) + 1)}",
        text,
    )


_CELL_NAME = re.compile(r"\((?:<ipython-input-[^<>()\n]*>|<tokenize>|\d+\.py), (line \d+)\)")


def cell_name(text: str) -> str:
    """``(<ipython-input-3-5c2b>, line 1)``, ``(4219528267.py, line 1)``: the kernel's name of a cell that is
    not Python; the line stays."""
    return _CELL_NAME.sub(r"(\1)", text)


def figure_size(text: str) -> str:
    """``<Figure size 640x480 with 1 Axes>``: the pixels, not the number of axes."""
    return re.sub(r"<Figure size \d+x\d+ with (\d+ Axes)>", r"<Figure with \1>", text)


_QUOTED = r"""(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")"""
_OLD_ARTISTS = re.compile(
    r"<matplotlib\.(?:figure\.Figure|text\.Text|axes\._subplots\.AxesSubplot)(?: object)? at 0x"
)
_SUBPLOTS = re.compile(r"<AxesSubplot:")
_ARTISTS = (
    (
        "<Figure>",
        re.compile(
            r"<matplotlib\.figure\.Figure(?: object)? at 0x[^>\n]*>|<Figure(?: size \d+x\d+)? with \d+ Axes>"
        ),
    ),
    (
        "<Axes>",
        re.compile(
            r"<matplotlib\.axes\._subplots\.AxesSubplot(?: object)? at 0x[^>\n]*>"
            r"|<Axes(?:Subplot)?: ?[^>\n]*>"
        ),
    ),
    (
        "<Text>",
        re.compile(
            rf"<matplotlib\.text\.Text(?: object)? at 0x[^>\n]*>|\bText\([^,'\"\n]*, [^,'\"\n]*, {_QUOTED}\)"
        ),
    ),
)


def matplotlib_repr(text: str) -> str:
    """Figures, axes and texts are reduced to their class: matplotlib before 2.2 and 3.7 wrote no more."""
    for name, pattern in _ARTISTS:
        text = pattern.sub(name, text)
    return text


_NUMPY_SCALAR = re.compile(
    rf"\bnp\.(?:(complex)\d+\(([^()\n]*)\)|(?:float|int|uint|longdouble)\d*\('?([^()'\n]*)'?\)"
    rf"|(True|False)_\b|(?:str|bytes)_\((b?{_QUOTED})\))"
)


def numpy_scalars(text: str) -> str:
    """``np.float64(1.5)``: numpy before 2.0 wrote only the number."""
    return _NUMPY_SCALAR.sub(
        lambda match: f"({match[2]})" if match[1] else match[3] or match[4] or match[5], text
    )


_NUMPY_SHAPE = re.compile(r",\s+shape=\(\d+,(?: \d+(?:, \d+)*)?\)(?=[,)])")


def numpy_shape(text: str) -> str:
    """``array([0, ..., 9], shape=(1000,))``: numpy before 2.2 did not write the shape of shortened arrays."""
    return _NUMPY_SHAPE.sub("", text)


_COUNT_NAME = re.compile(r"^Name: (?:count|proportion), (?=Length: |dtype: )", re.MULTILINE)


def pandas_count_name(text: str) -> str:
    """``Name: count, dtype: int64``: before pandas 2.0, the result of `value_counts` had no name."""
    return _COUNT_NAME.sub("", text)


_DURATION = r"\d[\d.,]*(?:e[+-]?\d+)? ?(?:ns|[uµμ]s|ms|s|seconds?|milliseconds?|microseconds?|min(?:utes)?)"
_TIMING = (
    (re.compile(r"^CPU times: user .*$", re.MULTILINE), "CPU times: ..."),
    (re.compile(rf"^Wall time: (?:\d+(?:min|h|d) ?)*(?:{_DURATION})?$", re.MULTILINE), "Wall time: ..."),
    (re.compile(rf"^(?:Compiler|Parser) *(?:time)? *: {_DURATION}\n?", re.MULTILINE), ""),
    (  # IPython before 6.0 said something else of other numbers of runs; authors of books wrap its lines
        re.compile(
            r"^(?:.* ± .* per loop \(mean ±\s+std\.\s+dev\.\s+of\s+\d+\s+runs?,\s+[\d,]+\s+loops?\s+each\)"
            r"|[\d,]+ loops?, best of \d+: .* per loop)$",
            re.MULTILINE,
        ),
        "... per loop",
    ),
    (re.compile(r"^The slowest run took [\d.]+ times longer than the fastest\..*\n?", re.MULTILINE), ""),
    (re.compile(r"^(Ran \d+ tests?) in [\d.]+s$", re.MULTILINE), r"\1 in ..."),
    (
        re.compile(r"^(=+ .*\b(?:passed|failed|error|skipped)\b.*) in [\d.]+s\b.*$", re.MULTILINE),
        r"\1 in ...",
    ),
    (
        re.compile(
            rf"\b([Tt]ook|[Ee]lapsed(?: time)?|[Tt]ime taken|[Tt]ime took to \w+):? {_DURATION}(?![\w/])"
        ),
        r"\1 ...",
    ),
)


def timing(text: str) -> str:
    """Times that ``%time``, ``%timeit``, unittest and pytest measured, and durations after ``took`` or
    ``elapsed``."""
    for pattern, replacement in _TIMING:
        text = pattern.sub(replacement, text)
    return text


_CLOCK, _RATE = r"(?:\d+:)*\d\d:\d\d", r"(?:\d[\d.]*[kMGTP]?|\?) ?(?:[^\W\d_]+/s|s/[^\W\d_]+)"
_PROGRESS = (
    (re.compile(rf"(\d+%)\|[^|\n]*\| (\S+/\S+) \[{_CLOCK}<(?:{_CLOCK}|\?), +{_RATE}"), r"\1 \2 [..."),
    (re.compile(rf"(?<!\w)(\d+[^\W\d_]+) \[{_CLOCK}, +{_RATE}"), r"\1 [..."),
    (
        re.compile(
            r"^( *\d+/\d+) (?:\[=+\] -|\u2501+) \d+s(?: \d+(?:[uµμ]s|ms|s)/(?:step|epoch|sample))?(?!\w)",
            re.MULTILINE,
        ),
        r"\1 ...",
    ),
)


def progress_bars(text: str) -> str:
    """``100%|███| 8/8 [00:01<00:00, 6.2it/s]`` of tqdm, ``8/8 [====] - 1s 90ms/step`` of Keras: the bar and
    the times; counts and what follows them stay."""
    for pattern, replacement in _PROGRESS:
        text = pattern.sub(replacement, text)
    return text


_FLOAT = re.compile(r"(?<![\w.])(\d+\.\d+)(e[+-]?\d+)?(?![\w.])")
_DIGITS, _KEPT = 14, 11


def last_digits(text: str) -> str:
    """Digits after the 11th, of floats with 14 or more: processors and numerical libraries add in different
    orders."""

    def rounded(match: re.Match[str]) -> str:
        if len(match[1].replace(".", "").lstrip("0")) < _DIGITS:
            return match[0]
        return repr(float(f"{float(match[0]):.{_KEPT - 1}e}"))

    return _FLOAT.sub(rounded, text)


def order_of_sets(text: str) -> str:
    """``{2, 1}``: the members of sets, by their text."""
    return _brackets(text, lambda group: group.ordered(pairs=False)) if "{" in text else text


def order_of_dicts(text: str) -> str:
    """``{'b': 1, 'a': 2}``: the items of dicts, which are equal in any order; before Python 3.7 it was
    chance."""
    return _brackets(text, lambda group: group.ordered(pairs=True)) if "{" in text else text


def line_breaks_in_brackets(text: str) -> str:
    """White space between brackets and outside of strings, by which lists, arrays and calls are broken into
    lines."""
    return _brackets(text, lambda group: group.on_one_line())


_BLANKS = re.compile(rf"(?<!\w){_QUOTED}|[ \t\xa0]+")


def white_space(text: str) -> str:
    """Several blanks outside of quotes, blanks at the ends of lines, empty lines at the ends of the text."""
    lines = (
        _BLANKS.sub(lambda match: match[0] if match[0][0] in "'\"" else " ", line).strip(" ")
        for line in text.splitlines()
    )
    return "\n".join(lines).strip("\n")


NORMALISERS = (
    Normaliser("terminal codes", terminal_codes),
    Normaliser("address", address),
    Normaliser("name of the cell", cell_name),
    Normaliser("figure size", figure_size),
    Normaliser("matplotlib repr", matplotlib_repr, (_OLD_ARTISTS, _SUBPLOTS)),
    Normaliser("numpy 2 scalars", numpy_scalars, (_NUMPY_SCALAR,)),
    Normaliser("numpy array shape", numpy_shape, (_NUMPY_SHAPE,)),
    Normaliser("pandas count name", pandas_count_name, (_COUNT_NAME,)),
    Normaliser("timing", timing),
    Normaliser("progress bars", progress_bars),
    Normaliser("last digits of floats", last_digits),
    Normaliser("order of sets", order_of_sets),
    Normaliser("order of dicts", order_of_dicts),
    Normaliser("line breaks in brackets", line_breaks_in_brackets),
    Normaliser("white space", white_space),
)
"""In the order in which they are applied: what only one form of a text has first, white space last."""


# -- texts with brackets ---------------------------------------------------------------------------

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_TOKEN = re.compile(rf"(?<!\w){_QUOTED}|[^()\[\]{{}}'\",:\s]+|\s+|.", re.DOTALL)


@dataclass(slots=True)
class _Group:
    """The text between two brackets. items: pieces of text between the commas."""

    opening: str
    start: int
    after: str
    """The character before the bracket."""
    items: list[list[str]] = field(default_factory=lambda: [[]])
    colons: int = 0

    def whole(self) -> str:
        inside = ",".join(map("".join, self.items))
        return f"{self.opening}{inside}{_CLOSING[self.opening]}"

    def ordered(self, *, pairs: bool) -> str:
        """The items of a set, or the pairs of a dict, sorted by their text. Braces in formulas, code and
        names (``x_{b,a}``) are not sets."""
        if self.opening != "{" or len(self.items) < 2 or re.match(r"[\w\\}^$]", self.after):
            return self.whole()
        if (self.colons == 0) == pairs or (pairs and self.colons != len(self.items)):
            return self.whole()
        return "{" + ", ".join(sorted("".join(item).strip() for item in self.items)) + "}"

    def on_one_line(self) -> str:
        items = ("".join(" " if piece.isspace() else piece for piece in item) for item in self.items)
        return f"{self.opening}{','.join(items).strip(' ')}{_CLOSING[self.opening]}"


def _brackets(text: str, build: Callable[[_Group], str]) -> str:
    """The text with every closed bracket written by `build`, inner ones first. Nothing changes between a
    bracket that is not closed and the one that does not fit."""
    written: list[str] = []
    open_: list[_Group] = []
    for match in _TOKEN.finditer(text):
        token, start = match[0], match.start()
        if token in _CLOSING:
            open_.append(_Group(token, start, text[start - 1 : start]))
        elif not open_:
            written.append(token)
        elif token in _CLOSING.values():
            if _CLOSING[open_[-1].opening] != token:
                written.append(text[open_[0].start : start + 1])
                open_ = []
                continue
            group = open_.pop()
            (open_[-1].items[-1] if open_ else written).append(build(group))
        elif token == ",":
            open_[-1].items.append([])
        else:
            open_[-1].colons += token == ":"
            open_[-1].items[-1].append(token)
    if open_:
        written.append(text[open_[0].start :])
    return "".join(written)
