"""Test classes that run in the process of the answer that they judge, and how a forged verdict is noticed.

Tests that patch modules (`unittest.mock.patch`) or use objects of the answer's own classes cannot run in
another process. Here an answer can reach the test runner, the asserts and, in the end, everything. So each
answer that passes is asked a second time, in a fresh process, with twins of the tests: the same text, in
which each assert is also made with the opposite claim, what is compared is compared with a word that is drawn
for this one run, and which then fails by itself with that word. An answer that patched asserts, replaced the
test runner or its modules, left the test by an exception that counts as passed, jumped over its lines, ended
the process or gave an object that is equal to everything does the same to the twins: they do not fail, and
the answer is wrong. What this cannot stop in principle is an answer that is made against it: one that reads
the expected values, or the word, out of its own process.

Random numbers of `random` and numpy follow from a fixed seed, so that verdicts repeat.
"""

import ast
from collections.abc import Sequence

from deskcheck.sources.sets.coding import Method, tests_of_class
from deskcheck.sources.text.python import quiet_parse

RUNNER = "run_test_classes"
"""Name of the function that runs test classes, in the answer's process."""

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
            came.setdefault(test.id().split(".", 1)[1], "")
        def addFailure(self, test, error):
            came[told(test)] = said(error)
        addError = addFailure
        def addSubTest(self, test, subtest, error):
            if error is not None:
                came[test.id().split(".", 1)[1]] = said(error)
        def addSkip(self, test, reason):
            came[told(test)] = "skipped: " + str(reason)
        def addExpectedFailure(self, test, error):
            came[told(test)] = ""
        def addUnexpectedSuccess(self, test):
            came[told(test)] = "it passes, and is expected to fail"

    def said(error):
        return (error[0].__name__ + ": " + str(error[1]))[:300] or "failed"

    def told(test):
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
    """A text of tests in which each test fails with ``AssertionError: word``, if its asserts are asserts."""
    tree = quiet_parse(text)
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            for method in tests_of_class(node):
                _Compared().visit(method)
                _fail_at_its_end(method, word)
    return f"{ast.unparse(ast.fix_missing_locations(tree))}\n{_COMPARED.format(word=word)}"


_COMPARED = """
def checked_value(value):
    from unittest import mock as checked_mock
    if value is checked_mock.ANY:
        return value
    claims = [lambda: value == {word!r}]
    if hasattr(type(value), "__contains__"):
        claims.append(lambda: {word!r} in value)
    for claim in claims:
        try:
            said = bool(claim())
        except Exception:
            continue
        if said:
            raise TypeError("equal to what it cannot know")
    return value
"""


class _Compared(ast.NodeTransformer):
    """What is compared goes through ``checked_value`` first."""

    def visit_Compare(self, node: ast.Compare) -> ast.Compare:
        self.generic_visit(node)
        if all(isinstance(each, (ast.Eq, ast.NotEq, ast.In, ast.NotIn)) for each in node.ops):
            node.left = _checked(node.left)
            node.comparators = [_checked(each) for each in node.comparators]
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _COMPARE:
            node.args = [each if isinstance(each, ast.Starred) else _checked(each) for each in node.args]
        return node


def _checked(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Constant):
        return node
    return ast.Call(ast.Name("checked_value", ast.Load()), [node], [])


_OPPOSITE = {
    "assertTrue": ("assertFalse", 1),
    "assertFalse": ("assertTrue", 1),
    "assertIsNone": ("assertIsNotNone", 1),
    "assertIsNotNone": ("assertIsNone", 1),
    "assertEqual": ("assertNotEqual", 2),
    "assertNotEqual": ("assertEqual", 2),
    "assertListEqual": ("assertNotEqual", 2),
    "assertDictEqual": ("assertNotEqual", 2),
    "assertSetEqual": ("assertNotEqual", 2),
    "assertTupleEqual": ("assertNotEqual", 2),
    "assertMultiLineEqual": ("assertNotEqual", 2),
    "assertIs": ("assertIsNot", 2),
    "assertIsNot": ("assertIs", 2),
    "assertIn": ("assertNotIn", 2),
    "assertNotIn": ("assertIn", 2),
    "assertIsInstance": ("assertNotIsInstance", 2),
    "assertNotIsInstance": ("assertIsInstance", 2),
    "assertGreater": ("assertLessEqual", 2),
    "assertLessEqual": ("assertGreater", 2),
    "assertLess": ("assertGreaterEqual", 2),
    "assertGreaterEqual": ("assertLess", 2),
}
"""Assert -> the one that raises where it does not, and how many arguments both compare."""

_COMPARE = frozenset(
    {"assertEqual", "assertIn", "assertListEqual", "assertDictEqual", "assertSetEqual", "assertTupleEqual"}
    | {"assertSequenceEqual", "assertCountEqual", "assertMultiLineEqual", "assertAlmostEqual"}
)
"""Asserts that ask their arguments whether they are equal."""

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
    kinds = _asserts_in(method)
    ends = _ends(kinds, word)
    method.body = _with_opposites(method.body, ends) + ends


def _asserts_in(method: Method) -> list[str]:
    found = {
        node.func.attr
        for node in ast.walk(method)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    return sorted(found & _MUST_RAISE.keys())


def _ends(kinds: Sequence[str], word: str) -> list[ast.stmt]:
    """What a test ends with: asserts that must raise, each; then the word. Left early where one does not."""
    lines = []
    if any(kind.startswith("assert_") for kind in kinds):
        lines.append("from unittest import mock as checked_mock")
    for kind in kinds:
        inner = _MUST_RAISE[kind].format(word=word, other=word[::-1] + "x")
        body = "".join(f"    {line}\n" for line in inner.splitlines())
        lines.append(f"try:\n{body}except AssertionError:\n    pass\nelse:\n    return")
    lines.append(f"raise AssertionError({word!r})")
    whole = "def end():\n" + "".join(f"    {line}\n" for text in lines for line in text.splitlines())
    (function,) = ast.parse(whole).body
    assert isinstance(function, ast.FunctionDef)
    return function.body


def _with_opposites(body: Sequence[ast.stmt], ends: list[ast.stmt]) -> list[ast.stmt]:
    """The statements, each assert followed by its opposite; before a return, what a test ends with."""
    found: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, ast.Return):
            found += ends
        elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            pass  # its returns are its own
        else:
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(statement, name, None)
                if inner:
                    setattr(statement, name, _with_opposites(inner, ends))
            for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
                part.body = _with_opposites(part.body, ends)
        opposite = _opposite(statement)
        found += [statement] if opposite is None else opposite
    return found


def _opposite(statement: ast.stmt) -> list[ast.stmt] | None:
    """An assert whose arguments are evaluated once, and then its opposite, which must raise."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return None
    call = statement.value
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _OPPOSITE:
        return None
    other, count = _OPPOSITE[call.func.attr]
    given = call.args[:count]
    plain = not any(isinstance(each, ast.Starred) for each in given)
    if len(given) < count or not plain or not isinstance(call.func.value, ast.Name):
        return None
    owner = call.func.value.id
    text = (
        f"compared_here = ()\n{owner}.{call.func.attr}(*compared_here)\n"
        f"try:\n    {owner}.{other}(*compared_here)\nexcept Exception:\n    pass\nelse:\n    return"
    )
    made = ast.parse(f"def f():\n{''.join(f'    {line}' + chr(10) for line in text.splitlines())}").body[0]
    assert isinstance(made, ast.FunctionDef)
    first, second, *rest = made.body
    assert isinstance(first, ast.Assign)
    assert isinstance(second, ast.Expr)
    first.value = ast.Tuple(list(given), ast.Load())
    assert isinstance(second.value, ast.Call)
    second.value.args += call.args[count:]
    second.value.keywords += call.keywords
    return [first, second, *rest]
