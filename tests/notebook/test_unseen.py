"""What fails where chance is looked for takes no cell away, and is told."""

from pathlib import Path

import pytest

from deskcheck.notebook.check.check import CellStatus, check_notebooks
from deskcheck.notebook.trajectory.chance import (
    ChanceKind,
    ChanceSource,
    drawn_from,
    read,
    shown,
    unseen,
    written,
)
from tests.notebook.test_check import cell, save
from tests.notebook.test_check import shown as gives

ODD = """
class Odd(BaseException):
    pass
def odd(*args):
    raise Odd("no, thanks")
names = ("__getattr__", "__hash__", "__len__", "__eq__", "__bool__", "__iter__", "__repr__", "__call__")
class Object:
    __class__ = property(odd)
    dtype = property(odd)
    __module__ = property(odd)
    for name in names:
        locals()[name] = odd
class Meta(type):
    def __getattribute__(self, name):
        raise Odd("not even this")
class Hidden(metaclass=Meta):
    pass
"""


@pytest.mark.slow
def test_objects_that_raise_whatever_they_are_asked_for(tmp_path: Path) -> None:
    """The cells are compared as before. What could not be looked at is told with its error, and what then
    differs is not called different: it may be chance."""
    for needed in ("ipykernel", "numpy"):  # whose generators are looked for in all objects
        pytest.importorskip(needed, reason="would have proved that odd objects take no cell away")
    cells = (
        cell("import numpy.random\n" + ODD + "x = [Object()]\n3", gives("3")),
        cell("y = Object()\n4", gives("4")),
        cell("repr(y is x), 5", gives("('False', 5)")),
        cell("z = Hidden()\nlist({'a', 'b'} - {'b'}), 6", gives("(['a'], 6)")),
        cell("f'{z is y}', 7", gives("('False', 7)")),
        cell("8", gives("9")),
        cell("del x, y, z\n10", gives("10")),
        cell("11", gives("11")),
        cell("12", gives("13")),
    )
    (notebook,) = check_notebooks([save(tmp_path / "a.ipynb", *cells)]).notebooks
    found = [each.status for each in notebook.cells]
    assert found[:5] == [CellStatus.SAME] * 5
    assert found[5] is CellStatus.NOT_REPEATABLE
    assert found[6:] == [CellStatus.SAME, CellStatus.SAME, CellStatus.DIFFERENT]
    why = notebook.cells[5].unstable or ""
    assert why.startswith("what of it is chance could not be looked at (Odd: not even this")
    assert f"cell {notebook.cells[5].number}: {why}" in notebook.notes
    later = tuple(f"cell {each.number}:" for each in notebook.cells[7:])
    assert [each for each in notebook.notes if each.startswith(later)] == []


class _Odd(BaseException):
    def __str__(self) -> str:
        raise KeyboardInterrupt


def test_sources_are_written_and_read() -> None:
    """As text, with their kinds; an error has no text that could be taken for several."""
    sources = (
        drawn_from("random"),
        ChanceSource(ChanceKind.PERHAPS, "sympy"),
        shown("the clock"),
        ChanceSource(ChanceKind.VALUE, "the value of x (random)"),
        unseen(ValueError("one, two\nthree")),
        unseen(_Odd()),
    )
    text = written(sources)
    assert text is not None
    assert text.startswith(
        "random, perhaps sympy, the clock, the value of x (random), unseen: ValueError: one; two three"
    )
    assert read(text) == sources
    assert (written(()), read(None)) == (None, ())
    assert [each.is_drawn for each in sources] == [True, False, False, True, False, False]
    assert [each.is_sure for each in sources] == [True, False, True, True, False, False]
