import unittest, io


class T(unittest.TestCase):
    def setUp(self):
        self.x = [1]

    def test_ok(self):
        self.assertEqual(self.x, [1])

    def test_bad(self):
        with self.subTest(n=1):
            self.assertIn(2, self.x)

    @unittest.skip("later")
    def test_skip(self):
        pass


r = unittest.TextTestRunner(stream=io.StringIO()).run(unittest.defaultTestLoader.loadTestsFromTestCase(T))
print(r.testsRun, len(r.failures), len(r.skipped))
