"""The comparison of tracers over the tests of packages says what it compared, and finds what differs."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.observer import packages
from tests.tracer import agree

CODE = """def total(numbers: list[int]) -> int:
    return sum(
        number
        for number in numbers
    )


def grown(numbers: list[int]) -> list[int]:
    return [
        *numbers,
        total(numbers),
    ]
"""
TESTS = """import pytest
from small import core


@pytest.mark.parametrize("size", range(3))
def test_grown(size: int) -> None:
    assert core.grown(list(range(size)))[-1] == sum(range(size))
"""


@pytest.mark.slow
def test_a_package_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not agree.native_is_built():
        pytest.skip("the native tracer is not built here: nothing to compare")
    for name, text in (("small/__init__.py", ""), ("small/core.py", CODE), ("tests/test_core.py", TESTS)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    rows = tmp_path / "rows.jsonl"
    assert packages.main([str(tmp_path), "--json", str(rows)]) == 0
    row = json.loads(rows.read_text())
    assert (row["tests"], row["calls"], row["different"], row["unlike witness"]) == (3, 9, {}, {})
    assert row["with witness"] > 20
    run = packages.run

    def with_a_loss(folder: Path, module: Path, tracer: str, *rest: Any) -> dict[str, packages.Traced]:
        traced = run(folder, module, tracer, *rest)
        return traced | ({next(iter(traced)): packages.Traced([], True)} if tracer == "native" else {})

    monkeypatch.setattr(packages, "run", with_a_loss)
    assert packages.main([str(tmp_path)]) == 1
    assert "15 events and 0" in capsys.readouterr().out
