"""Answers to a benchmark in an environment of their own: its packages are there, those of deskcheck are not."""

import json
from pathlib import Path

import pytest

from deskcheck.ask.questions.benchmarks import benchmark_samples
from deskcheck.ask.scoring.selfcheck import self_check
from deskcheck.recording import InputError
from deskcheck.sandbox.environments import EnvironmentSpec, build
from tests.sandbox.test_environments import make_wheel

ROW = {
    "id": "twice",
    "prompt": "Twice.",
    "entry_point": "f",
    "tests": ["assert f(4) == 8"],
    "reference": "import tiny\ndef f(x):\n    return tiny.twice(x)\n",
    "modules": ["tiny"],
}
INSIDE = {
    **ROW,
    "id": "inside",
    "tests": None,
    "unittest": (
        "import unittest\nfrom unittest.mock import patch\nclass T(unittest.TestCase):\n"
        "    @patch('tiny.twice', return_value=3)\n    def test_f(self, twice):\n"
        "        self.assertEqual(f(4), 3)\n        twice.assert_called_once_with(4)\n"
    ),
    "known_bad": ["def f(x):\n    return 3\n"],
}


def written(folder: Path) -> Path:
    path = folder / "tasks.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in (ROW, INSIDE)))
    return path


def test_an_environment_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown environment 'never_built'"):
        benchmark_samples([f"program@never_built:{written(tmp_path)}"])
    found = self_check(benchmark_samples([str(written(tmp_path))])["program"])
    assert (found.not_run, found.good) == ({"tiny": 2}, 0)


@pytest.mark.slow
def test_an_environment_decides_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its module is found there, for tests in both places; deskcheck's own numpy is not."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    make_wheel(tmp_path / "wheels", "1.0", "def twice(x):\n    return 2 * x\n")
    build(EnvironmentSpec(name="tiny", packages=("tiny-package==1.0",)), wheels=tmp_path / "wheels")
    path = written(tmp_path)
    with path.open("a") as file:
        file.write(json.dumps({**ROW, "id": "numpy", "modules": ["numpy"]}) + "\n")
    found = self_check(benchmark_samples([f"program@tiny:{path}"])["program"])
    assert (found.good, found.good_right, found.bad, found.bad_right) == (2, 2, 1, 0), found
    assert found.not_run == {"numpy": 1}
