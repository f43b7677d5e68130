"""A kernel with our extension."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.notebook.front_end import Kernel


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Kernel]:
    """A kernel that has not loaded us."""
    made = Kernel(tmp_path)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    made = Kernel(tmp_path)
    try:
        assert made.run("%load_ext deskcheck").reply["status"] == "ok"
        yield made
    finally:
        made.close()
