"""Test classes that run in the process of the answer that they judge, and how a forged verdict is noticed.

Tests that patch modules (`unittest.mock.patch`) or use objects of the answer's own classes cannot run in
another process. Here an answer can reach the test runner, the asserts and, in the end, everything. So each
answer that passes runs once more, in a fresh process, with twins of the tests: the same text, in which each
assert is followed by the opposite assert, which must raise, and each compared value must not be equal to a
random word nor contain it. At its end each twin fails on purpose, with that word. An answer that patched
asserts, replaced the test runner, left the test early, ended the process or returned an object that is equal
to everything does the same to the twins: one of them does not fail with the word, and the answer is wrong.
An answer that is written against this check, and reads the expected values or the word from its process, is
not stopped.

Random numbers of `random` and numpy follow from a fixed seed, so that verdicts repeat.
"""

import ast
from collections.abc import Sequence
from textwrap import indent

from deskcheck.sources.sets.coding import Method, tests_of_class
from deskcheck.sources.text.python import quiet_parse

RUNNER = "run_test_classes"
"""The function that runs test classes, in the answer's process."""

DRIVER = f'''\
def {RUNNER}(text, names):
    """What came of each test: '' if it passes."""
    import random, sys, unittest
    random.seed(0)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)
    exec(compile(text, "tests.py", "exec", dont_inherit=True), globals())
    came = {{}}

    class Result(unittest.TestResult):
        def addSuccess(self, test):
            came.setdefault(name_of(test), "")
        def addFailure(self, test, error):
            came[name_of(test)] = message_of(error)
        addError = addFailure
        def addSubTest(self, test, subtest, error):
            if error is not None:
                came[name_of(test)] = message_of(error)
        def addSkip(self, test, reason):
            came[name_of(test)] = "skipped: " + str(reason)
        def addExpectedFailure(self, test, error):
            came[name_of(test)] = ""
        def addUnexpectedSuccess(self, test):
            came[name_of(test)] = "it passes, and is expected to fail"

    def message_of(error):
        return (error[0].__name__ + ": " + str(error[1]))[:300] or "failed"

    def name_of(test):
        """CLASS.TEST: the id without its module."""
        return test.id().split(".", 1)[1] if "." in test.id() else test.id()

    for name in names:
        kind = globals()[name]
        if not issubclass(kind, unittest.TestCase):
            kind = type(name, (kind, unittest.TestCase), {{"__module__": __name__, "__qualname__": name}})
        unittest.defaultTestLoader.loadTestsFromTestCase(kind).run(Result())
    return came
'''


# -- twins -------------------------------------------------------------------------------------------


def twins(text: str, word: str) -> str:
    """The text of the twins: each fails with ``AssertionError: word`` if its asserts do what asserts do."""
    tree = quiet_parse(text)
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            for method in tests_of_class(node):
                _ValueChecks().visit(method)
                _fail_at_its_end(method, word)
    return f"{ast.unparse(ast.fix_missing_locations(tree))}\n{_CHECKED_VALUE.format(word=word)}"


_CHECKED_VALUE = """
def checked_value(value):
    from unittest import mock as checked_mock
    if value is checked_mock.ANY:
        return value
    claims = [lambda: value == {word!r}]
    if hasattr(type(value), "__contains__"):
        claims.append(lambda: {word!r} in value)
    for claim in claims:
        try:
            holds = bool(claim())
        except Exception:
            continue
        if holds:
            raise TypeError("equal to what it cannot know")
    return value
"""


class _ValueChecks(ast.NodeTransformer):
    """Passes everything that is compared through ``checked_value``."""

    def visit_Compare(self, node: ast.Compare) -> ast.Compare:
        self.generic_visit(node)
        if all(isinstance(operator, (ast.Eq, ast.NotEq, ast.In, ast.NotIn)) for operator in node.ops):
            node.left = _checked(node.left)
            node.comparators = [_checked(operand) for operand in node.comparators]
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _BY_EQUALITY:
            node.args = [
                argument if isinstance(argument, ast.Starred) else _checked(argument)
                for argument in node.args
            ]
        return node


def _checked(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Constant):
        return node
    return ast.Call(ast.Name("checked_value", ast.Load()), [node], [])


_PAIRS = [
    ("assertTrue", "assertFalse", 1),
    ("assertIsNone", "assertIsNotNone", 1),
    ("assertEqual", "assertNotEqual", 2),
    ("assertIs", "assertIsNot", 2),
    ("assertIn", "assertNotIn", 2),
    ("assertIsInstance", "assertNotIsInstance", 2),
    ("assertGreater", "assertLessEqual", 2),
    ("assertLess", "assertGreaterEqual", 2),
]
_EQUALITIES = (
    "assertListEqual",
    "assertDictEqual",
    "assertSetEqual",
    "assertTupleEqual",
    "assertMultiLineEqual",
)
_OPPOSITE = {name: (opposite, count) for name, opposite, count in _PAIRS}
_OPPOSITE |= {opposite: (name, count) for name, opposite, count in _PAIRS}
_OPPOSITE |= dict.fromkeys(_EQUALITIES, ("assertNotEqual", 2))
"""Assert -> the opposite assert, and the number of arguments that both compare."""

_BY_EQUALITY = frozenset(
    {"assertEqual", "assertIn", "assertSequenceEqual", "assertCountEqual", "assertAlmostEqual", *_EQUALITIES}
)
"""Asserts whose result depends on the `__eq__` or `__contains__` of their arguments."""

_MUST_RAISE = {
    "assertEqual": "self.assertEqual({word!r}, {other!r})",
    "assertTrue": "self.assertTrue({word!r} == {other!r})",
    "assertFalse": "self.assertFalse({word!r} != {other!r})",
    "assertIn": "self.assertIn({word!r}, [{other!r}])",
    "assertIsInstance": "self.assertIsInstance({word!r}, int)",
    "assertAlmostEqual": "self.assertAlmostEqual(1.5, 2.5)",
    "assertSequenceEqual": "self.assertSequenceEqual([{word!r}], [{other!r}])",
    "assertCountEqual": "self.assertCountEqual([{word!r}], [{other!r}])",
    "assertListEqual": "self.assertListEqual([{word!r}], [{other!r}])",
    "assertDictEqual": "self.assertDictEqual({{1: {word!r}}}, {{1: {other!r}}})",
    "assertSetEqual": "self.assertSetEqual({{{word!r}}}, {{{other!r}}})",
    "assertRaises": "with self.assertRaises(ZeroDivisionError):\n    pass",
    "assertRaisesRegex": "with self.assertRaisesRegex(ZeroDivisionError, ''):\n    pass",
    "assertRegex": "self.assertRegex({word!r}, {other!r})",
    "assert_called": "checked_mock.Mock().assert_called()",
    "assert_called_once": "checked_mock.Mock().assert_called_once()",
    "assert_called_with": "checked_mock.Mock().assert_called_with({word!r})",
    "assert_called_once_with": "checked_mock.Mock().assert_called_once_with({word!r})",
    "assert_any_call": "checked_mock.Mock().assert_any_call({word!r})",
    "assert_has_calls": "checked_mock.Mock().assert_has_calls([checked_mock.call({word!r})])",
    "assert_not_called": "checked_call = checked_mock.Mock()\nchecked_call()\n"
    "checked_call.assert_not_called()",
}
"""Assert -> a call of it that must raise."""


def _fail_at_its_end(method: Method, word: str) -> None:
    asserts = {
        node.func.attr
        for node in ast.walk(method)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    end = _end(sorted(asserts & _MUST_RAISE.keys()), word)
    method.body = _with_opposites(method.body, end) + end


def _body(text: str) -> list[ast.stmt]:
    """The statements of a text, which may contain ``return``."""
    (function,) = ast.parse(f"def f():\n{indent(text, '    ')}").body
    assert isinstance(function, ast.FunctionDef)
    return function.body


def _end(asserts: Sequence[str], word: str) -> list[ast.stmt]:
    """The end of a twin: each assert is called so that it must raise, or else the twin returns; then it fails
    with the word."""
    lines = ["from unittest import mock as checked_mock"]
    for name in asserts:
        call = _MUST_RAISE[name].format(word=word, other=word[::-1] + "x")
        lines.append(f"try:\n{indent(call, '    ')}\nexcept AssertionError:\n    pass\nelse:\n    return")
    lines.append(f"raise AssertionError({word!r})")
    return _body("\n".join(lines))


def _with_opposites(body: Sequence[ast.stmt], end: list[ast.stmt]) -> list[ast.stmt]:
    """The statements, each assert followed by its opposite, and each return preceded by the end of a test."""
    statements: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, ast.Return):
            statements += end
        elif not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(statement, name, None)
                if inner:
                    setattr(statement, name, _with_opposites(inner, end))
            for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
                part.body = _with_opposites(part.body, end)
        statements += _opposite(statement) or [statement]
    return statements


def _opposite(statement: ast.stmt) -> list[ast.stmt]:
    """The statements that replace an assert: its arguments are evaluated once, then come the assert and its
    opposite, which must raise. Empty for other statements, and for asserts without an opposite."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return []
    call = statement.value
    if not isinstance(call.func, ast.Attribute) or not isinstance(call.func.value, ast.Name):
        return []
    opposite, count = _OPPOSITE.get(call.func.attr, ("", 0))
    compared = call.args[:count]
    if not opposite or len(compared) < count or any(isinstance(operand, ast.Starred) for operand in compared):
        return []
    arguments = ast.Starred(ast.Name("compared_here", ast.Load()), ast.Load())
    claim = ast.Call(call.func, [arguments, *call.args[count:]], call.keywords)
    return _body(
        f"compared_here = {ast.unparse(ast.Tuple(compared, ast.Load()))}\n{ast.unparse(claim)}\n"
        f"try:\n    {call.func.value.id}.{opposite}(*compared_here)\n"
        "except Exception:\n    pass\nelse:\n    return"
    )
