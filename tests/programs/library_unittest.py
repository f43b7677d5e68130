"""unittest, doctest and mock inside the program: frameworks that catch, patch and run code by name."""

import doctest
import sys
import unittest
from unittest import mock


def double(x):
    """Twice x.

    >>> double(4)
    8
    >>> for i in range(2):
    ...     print(double(i))
    0
    2
    """
    return x * 2


class Test(unittest.TestCase):
    def setUp(self):
        self.a = 23

    def test_passes(self):
        with self.subTest(x=1):
            self.assertEqual(double(1), 2)

    def test_fails(self):
        self.assertEqual(double(1), self.a)

    def test_raises(self):
        with self.assertRaisesRegex(TypeError, "unsupported"):
            double(object())


result = unittest.TestResult()
unittest.defaultTestLoader.loadTestsFromTestCase(Test).run(result)
print(result.testsRun, len(result.failures), len(result.errors))
print(doctest.testmod())
with mock.patch(f"{__name__}.double", side_effect=[1, ValueError]) as fake, mock.patch("builtins.print") as silent:
    print("not shown", double(5))
print(fake.call_args, silent.call_count, double(5), sys.gettrace())
