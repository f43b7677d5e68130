"""The programs in examples/: true to their docstrings, silent when imported. Not: recordings of them."""

import doctest
import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
PROGRAMS = sorted(EXAMPLES.glob("*.py"))


@pytest.fixture(params=PROGRAMS, ids=lambda path: path.stem)
def example(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """One example, imported under a name of its own: queue.py must not pass for the library's queue."""
    path: Path = request.param
    name = f"example_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look up their own module there
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules[name]


def test_examples_are_silent_when_imported(example: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    """Importing an example prints nothing: what runs, runs only when asked."""
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_examples_in_docstrings_are_true(example: ModuleType) -> None:
    """Each docstring shows what its function really gives, and each program has some that do."""
    results = doctest.testmod(example)
    assert results.attempted > 0
    assert results.failed == 0


def test_functions_are_ready_to_call() -> None:
    """Each row of functions.jsonl defines its entry and writes each input as a tuple of arguments."""
    rows = [json.loads(line) for line in (EXAMPLES / "functions.jsonl").read_text().splitlines()]
    assert len(rows) == 5
    for row in rows:
        namespace: dict[str, object] = {}
        exec(row["code"], namespace)
        assert callable(namespace[row["entry"]])
        assert all(isinstance(eval(arguments), tuple) for arguments in row["inputs"])
