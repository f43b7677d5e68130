"""What later cells read, told from their sources."""

import pytest

from deskcheck.notebook.state.names import cell_names, read_later


@pytest.mark.parametrize(
    ("later", "read"),
    [
        (["y = x"], {"x"}),
        (["x = 1", "x"], set()),
        (["for i in a: i"], {"a"}),
        (["for i in a: i", "i"], {"a", "i"}),
        (["if c: x = 1", "x"], {"c", "x"}),
        (["if c: x = 1\nelse: x = 2", "x"], {"c"}),
        (["x += 1"], {"x"}),
        (["x[0] = 1"], {"x"}),
        (["x.a = 1"], {"x"}),
        (["def f(): return x", "x = 1"], {"x"}),
        (["[i for i in a]"], {"a"}),
        (["df.query('a > @b')"], {"df", "b"}),
        (["%timeit f(x)"], {"timeit", "f", "x"}),
        (["!cat {path}"], {"cat", "path"}),
        (["%%bash\necho $name"], {"bash", "echo", "name"}),
        (["files = !ls $where"], {"files", "ls", "where"}),
        (["?x"], {"x"}),
        (["x = ("], {"x"}),
        ([], set()),
    ],
)
def test_names_that_are_read(later: list[str], read: set[str]) -> None:
    """Just those whose value from before may matter; in a function, at any time."""
    assert {*read_later(later).names} == read


def test_functions_of_earlier_cells() -> None:
    """They may be called later, from wherever they were defined; what an earlier cell itself read is over."""
    before = [
        "k = z",
        "def f(a):\n    b = k\n    return lambda c: a + b + c + m",
        "class C:\n    def g(self): n",
    ]
    assert {*read_later(["pass"], before).names} == {"k", "m", "n"}


@pytest.mark.parametrize("source", ["eval(s)", "globals()", "def f(): exec(s)", "%whos"])
def test_where_everything_counts(source: str) -> None:
    """Code that is run, and namespaces that are asked for, may read any variable."""
    assert "anything" in read_later([source])
    assert "anything" not in read_later(["s"])


def test_what_a_cell_reads_of_its_own() -> None:
    """Names that it has bound before are named, not read first."""
    found = cell_names("t = n + 1\ny = t * 2")
    assert [*map(sorted, (found.read, found.bound, found.named))] == [["n"], ["t", "y"], ["n", "t"]]
