"""Notebook files: what is read from them, and what is refused."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from deskcheck.errors import InputError
from deskcheck.notebook.trajectory.ipynb import parse_notebook, read_notebook
from deskcheck.notebook.trajectory.trajectory import Execution, Status
from tests.notebook.books import book, code
from tests.notebook.valid import check

SHARED = Path(os.environ.get("DESKCHECK_SHARED", Path(__file__).parents[3] / "shared")) / "data" / "notebooks"


def notebook(*cells: dict[str, Any]) -> bytes:
    return json.dumps(book(*cells)).encode()


def test_orders() -> None:
    """From the top every code cell; by count those that ran, and only those."""
    text = notebook(
        code("a", count=7), {"cell_type": "markdown", "source": ["x\n", "y"]}, code("b", count=2), code("c")
    )
    top, count = (parse_notebook(text, name="n", order=order) for order in ("top", "count"))
    assert [e.source for e in top.executions] == ["a", "b", "c"]
    assert [e.source for e in count.executions] == ["b", "a"]
    assert [e.status for e in top.executions] == [Status.OK, Status.OK, Status.UNKNOWN]
    assert [cell.source for cell in top.cells] == ["a", "x\ny", "b", "c"]
    check(count.cells, count.steps)


def test_outputs_keep_their_words() -> None:
    """Streams, results with their MIME types and errors come as the file has them."""
    outputs = [
        {"output_type": "stream", "name": "stderr", "text": ["1\n", "2"]},
        {
            "output_type": "execute_result",
            "execution_count": 3,
            "metadata": {},
            "data": {"text/plain": ["4"], "application/json": [5]},
        },
        {"output_type": "error", "ename": "KeyboardInterrupt", "evalue": "", "traceback": ["6", "7"]},
    ]
    (ran,) = parse_notebook(notebook(code("x", count=3, outputs=outputs)), name="n").executions
    assert ran.text("stderr") == "1\n2"
    assert ran.outputs[1].data == {"text/plain": "4", "application/json": [5]}
    assert ran.error is not None
    assert ran.error.text == "6\n7"
    assert ran.status is Status.INTERRUPTED


def test_ids_are_kept_or_made() -> None:
    """Cells of nbformat 4.5 keep their ids; others, and those that repeat one, get ids that are nobody's."""
    text = notebook(code("", id="cell-1"), code("b"), code("c", id="x"), code("d", id="x"))
    ids = [cell.id for cell in parse_notebook(text, name="n").cells]
    assert ids[0] == "cell-1"
    assert ids[2] == "x"
    assert len({*ids}) == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (notebook(code("x"))[:60], "cut off after 60 bytes"),
        (b"", "cut off"),
        (b"[]", "no number 'nbformat'"),
        (b'{"nbformat": 4}', "no list of cells"),
        (b'{"nbformat": 9, "cells": []}', "nbformat 9"),
        (b"print(1)", "is not JSON"),
        (b"\xff\xfe\x00", "is not UTF-8"),
        (notebook({"source": "x"}), "cell 0 is not in nbformat 4"),
        (notebook({"cell_type": "code", "source": 3}), "cell 0 is not in nbformat 4"),
        (notebook(code("x", outputs=[{"name": "stdout"}])), "cell 0 is not in nbformat 4"),
        (b'{"nbformat": ' + b"9" * 5000 + b"}", "a whole number of more than 4300 digits"),
        (b'{"nbformat": 4, "cells": ' + b"[" * 100_000, "nested too deeply"),
        (notebook(code("x"))[:-1] + b', "metadata": {"language_info": {"name": ["ruby"]}}}', "is not text"),
        (notebook(code("x"))[:-1] + b', "metadata": {"kernelspec": {"name": 3}}}', "is not text"),
        (
            notebook(code("x", outputs=[{"output_type": "display_data", "data": {"text/plain": {"a": 1}}}])),
            "cell 0 is not in nbformat 4",
        ),
        (notebook(code("x = '" + "a" * 2_000_000 + "'")), "cell 0: its source has 2,000,006 characters"),
    ],
)
def test_what_is_no_notebook_is_refused(text: bytes, said: str) -> None:
    """The error names the file and what is wrong with it."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(4300)  # a library that an earlier test has used may have taken the limit away
    try:
        with pytest.raises(InputError, match=said) as caught:
            parse_notebook(text, name="some.ipynb")
    finally:
        sys.set_int_max_str_digits(before)
    assert "some.ipynb" in str(caught.value)


def test_oddities_are_noted() -> None:
    """An unknown cell type is kept and not run; a missing kernelspec and repeated counts are said."""
    text = notebook(code("a", count=1), {"cell_type": "poem", "source": "rose"}, code("b", count=1))
    read = parse_notebook(text, name="n", order="count")
    assert len(read.cells) == 3
    assert [e.source for e in read.executions] == ["a", "b"]
    assert [note.partition(" ")[0] for note in read.notes] == ["no", "cell", "execution"]


def test_the_old_format_is_converted() -> None:
    """nbformat 3 kept its cells in worksheets."""
    pytest.importorskip("nbformat", reason="would have proved that nbformat 3 is read")
    old = {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {"name": ""},
        "worksheets": [
            {
                "cells": [
                    {"cell_type": "heading", "level": 2, "metadata": {}, "source": ["Old\n", "days"]},
                    {
                        "cell_type": "code",
                        "collapsed": False,
                        "input": ["print 3"],
                        "language": "python",
                        "metadata": {},
                        "prompt_number": 5,
                        "outputs": [{"output_type": "stream", "stream": "stdout", "text": ["3\n"]}],
                    },
                ]
            }
        ],
    }
    read = parse_notebook(json.dumps(old).encode(), name="n")
    (ran,) = read.executions
    assert (ran.source, ran.count, ran.text()) == ("print 3", 5, "3\n")
    assert [cell.source for cell in read.cells] == ["## Old days", "print 3"]
    assert read.notes[0] == "converted from nbformat 3"
    assert [each.id for each in read.cells] == [f"cell-{n}" for n in range(len(read.cells))]


def test_real_notebooks_are_read() -> None:
    """All of the shared set, in both orders, as trajectories whose steps follow each other."""
    found = sorted(SHARED.rglob("*.ipynb"))
    if not found:
        pytest.skip(
            "no notebooks in DESKCHECK_SHARED or ../shared: would have proved that 123 real ones are read"
        )
    for path in found:
        for order in ("top", "count"):
            read = read_notebook(path, order=order)
            check(read.cells, read.steps)
            assert all(isinstance(step, Execution) for step in read.steps)
