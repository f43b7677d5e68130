"""Programs in other layouts: the same program with its expressions over other lines.

    as-is       as it was written
    black20     formatted by black, at most 20 characters a line; black40 and black88 likewise
    broken      a line break at every place inside an expression where Python permits one
    some        a line break at about every third of those places, chosen by a seed that is the text's own
    stars       the first item of each display and call unpacked with a star, and a line for each item

All but `stars` have the same syntax tree as the original. `stars` has the same values at the same moments, but makes them with
other instructions.
"""

import argparse
import ast
import io
import random
import re
import tokenize
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, NamedTuple

from deskcheck.recording import Program

LAYOUTS = ("as-is", "black20", "black40", "black88", "broken", "some", "stars")

Ends = Callable[[str, str], bool]
"""Whether a line ends between two tokens."""


def layouts_of(words: str) -> tuple[str, ...]:
    """The layouts that a word of the command stands for."""
    layouts = LAYOUTS if words == "all" else tuple(words.split(","))
    if unknown := [layout for layout in layouts if layout not in LAYOUTS]:
        raise argparse.ArgumentTypeError(
            f"unknown: {', '.join(unknown)}; there are {', '.join(LAYOUTS)}, all"
        )
    return layouts


def in_layout(text: str, layout: str) -> str | None:
    """A program in a layout; None where the layout cannot be made of it."""
    if layout == "as-is":
        return text
    if not _is_program(text):
        return None
    if layout.startswith("black"):
        return _formatted(text, int(layout.removeprefix("black")))
    if layout == "broken":
        return broken(text)
    if layout == "some":
        choice = random.Random(text)
        return broken(text, lambda before, after: choice.random() < 1 / 3)
    assert layout == "stars"
    starred = with_stars(text)
    return None if starred is None else broken(starred, between_items)


def drawn(text: str, choose: random.Random) -> str:
    """A program in one of the layouts that programs have, or as it is. For programs that nobody wrote."""
    kind = choose.choice(["as it is", "as it is", "over lines", "over lines", "by items", "starred"])
    if kind == "as it is":
        return text
    if kind == "over lines":
        share = choose.choice([0.05, 0.3, 0.8])
        return broken(text, lambda before, after: choose.random() < share)
    return broken((kind == "starred" and with_stars(text)) or text, between_items)


def laid_out(programs: Iterable[Program], layouts: Sequence[str]) -> Iterator[Program]:
    """Each program in each of the layouts that change it, and as it is if that is among them; a program that shows what each tracer has
    of its own (`shows_tracer`) only as it is, where it does so at no event of a line."""
    for program in programs:
        texts: set[str] = set()
        for layout in layouts:
            if layout != "as-is" and shows_tracer(program):
                continue
            text = in_layout(program.code, layout)
            if text is None or text in texts or (layout != "as-is" and text == program.code):
                continue
            texts.add(text)
            name = program.id if layout == "as-is" else f"{program.id} {layout}"
            yield replace(program, id=name, code=text)


def shows_tracer(program: Program) -> bool:
    """Whether a program shows on its value stack what each tracer has of its own: the number of objects that
    `gc.collect` found, our functions in place of `sys.settrace` and of the output's methods."""
    return re.search(r"\bgc\.|settrace|setprofile|monitoring|std(out|err)|unittest", program.code) is not None


def same_tree(one: str, two: str) -> bool:
    """Whether two programs have the same syntax tree."""
    try:
        return _tree(one) == _tree(two)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _tree(text: str) -> str:
    with warnings.catch_warnings(action="ignore"):
        return ast.dump(ast.parse(text))


def _is_program(text: str) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):
            compile(text, "program.py", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _formatted(text: str, width: int) -> str | None:
    import black  # imported late: nothing else needs it

    try:
        formatted = black.format_str(text, mode=black.Mode(line_length=width))
    except (black.parsing.InvalidInput, AssertionError, RecursionError):
        return None
    return formatted if same_tree(text, formatted) else None


# -- a line break at every place ----------------------------------------------------------------------


def _everywhere(before: str, after: str) -> bool:
    return True


def between_items(before: str, after: str) -> bool:
    """After an opening bracket, after a comma, and before a closing bracket."""
    return before in "([{," or after in ")]}"


def broken(text: str, ends: Ends = _everywhere) -> str:
    """The program with line breaks between the tokens of its expressions, wherever `ends` says so.

    An expression outside of brackets gets parentheses, unless they would change the tree. Strings and f-strings stay as they are.
    Comments inside of brackets go.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    tree = _tree(text)
    tokens = _tokens(text)

    def rewritten(spans: Sequence[tuple[int, int]]) -> str | None:
        new = _rewritten(text, tokens, spans, ends)
        try:
            return new if _tree(new) == tree else None
        except (SyntaxError, ValueError):
            return None

    def harmless(spans: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
        if not spans or rewritten(spans) is not None:
            return spans
        half = len(spans) // 2
        return [*harmless(spans[:half]), *harmless(spans[half:])] if half else []

    spans = _spans(text)
    new = rewritten(spans) or rewritten(harmless(spans))
    assert new is not None
    return new


class _Token(NamedTuple):
    """A token, or a whole f-string. start, end: where in the text. layout: a comment or a line break inside of brackets."""

    start: int
    end: int
    layout: bool


def _offsets(text: str) -> list[int]:
    """Where each line starts, counted from 1."""
    return [0, *accumulate((len(line) + 1 for line in text.split("\n")), initial=0)]


def _tokens(text: str) -> list[_Token]:
    starts = _offsets(text)
    tokens: list[_Token] = []
    strings, began = 0, 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        name = tokenize.tok_name[token.type]
        if token.type in (tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            continue
        start, end = (starts[line] + column for line, column in (token.start, token.end))
        if name.endswith("STRING_START"):
            began = began if strings else start
            strings += 1
        elif name.endswith("STRING_END"):
            strings -= 1
            if not strings:
                tokens.append(_Token(began, end, False))
        elif not strings:
            tokens.append(_Token(start, min(end, len(text)), token.type in (tokenize.NL, tokenize.COMMENT)))
    return tokens


def _spans(text: str) -> list[tuple[int, int]]:
    """Start and end of what parentheses can be put around: whole expressions of statements, names of imports, items of `with`."""
    lines, starts = [b"", *(line.encode() for line in text.split("\n"))], _offsets(text)

    def place(line: int, size: int) -> int:
        return starts[line] + len(lines[line][:size].decode())

    def span(first: Any, last: Any) -> tuple[int, int]:
        return place(first.lineno, first.col_offset), place(last.end_lineno, last.end_col_offset)

    spans = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            spans |= {span(part, part) for part in _expressions(node)}
        if isinstance(node, ast.ImportFrom) and node.names[0].name != "*":
            spans.add(span(node.names[0], node.names[-1]))
        if isinstance(node, ast.With | ast.AsyncWith):
            last = node.items[-1]
            spans.add(span(node.items[0].context_expr, last.optional_vars or last.context_expr))
    return sorted(pair for pair in spans if not text[: pair[0]].endswith("("))


def _expressions(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions that are direct parts of a statement, and those of the items of a `with`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr) and not isinstance(child, ast.Starred):
            if not (isinstance(node, ast.AnnAssign) and child is node.target):
                yield child
        elif isinstance(child, ast.withitem):
            yield from _expressions(child)


def _rewritten(text: str, tokens: Sequence[_Token], spans: Iterable[tuple[int, int]], ends: Ends) -> str:
    opens, closes = Counter(start for start, _ in spans), Counter(end for _, end in spans)
    pieces: list[str] = []
    depth, at, last = 0, 0, ""

    def add(word: str, gap: str) -> None:
        nonlocal last, depth
        if depth:
            gap = "\n" if ends(last, word) else " " if gap else ""
        pieces.append(gap + word)
        depth += (word in _OPENING) - (word in _CLOSING)
        last = word

    for start, end, layout in tokens:
        if depth and layout:
            continue
        word, gap = text[start:end], text[at:start]
        for _ in range(opens[start] if word.strip() else 0):
            add("(", gap)
            gap = ""
        add(word, gap)
        for _ in range(closes[end] if word.strip() else 0):
            add(")", "")
        at = end
    return "".join([*pieces, text[at:]])


_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


# -- stars --------------------------------------------------------------------------------------------


def with_stars(text: str) -> str | None:
    """The program with the first item of each display, and of each call's arguments, unpacked with a star; without its comments
    and layout. None where `ast` cannot write it."""
    with warnings.catch_warnings(action="ignore"):
        tree = _Stars().visit(ast.parse(text))
    try:
        starred = ast.unparse(ast.fix_missing_locations(tree))
    except (ValueError, RecursionError):
        return None
    return starred if _is_program(starred) else None


class _Stars(ast.NodeTransformer):
    """Leaves out f-strings, whose text would need other quotes, annotations, which may be compared as text, and what is bound or
    deleted."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.AST:
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def _function(self, node: Any) -> ast.AST:
        returns, node.returns = node.returns, None
        self.generic_visit(node)
        node.returns = returns
        return node  # type: ignore[no-any-return]

    visit_FunctionDef = visit_AsyncFunctionDef = _function

    def visit_List(self, node: ast.List) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.elts = _starred(node.elts, ast.List)
        return node

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.elts = _starred(node.elts, ast.Tuple)
        return node

    def visit_Set(self, node: ast.Set) -> ast.AST:
        self.generic_visit(node)
        node.elts = _starred(node.elts, ast.List)
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        self.generic_visit(node)
        if node.keys and node.keys[0] is not None:
            node.values[0] = ast.Dict([node.keys[0]], [node.values[0]])
            node.keys[0] = None
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if node.args:
            node.args = _starred(node.args, ast.Tuple)
        elif node.keywords and (name := node.keywords[0].arg) is not None:
            node.keywords[0] = ast.keyword(None, ast.Dict([ast.Constant(name)], [node.keywords[0].value]))
        return node


def _starred(items: list[ast.expr], display: type[ast.List] | type[ast.Tuple]) -> list[ast.expr]:
    if not items or isinstance(items[0], ast.Starred | ast.Slice):
        return items
    return [ast.Starred(display([items[0]], ast.Load()), ast.Load()), *items[1:]]
