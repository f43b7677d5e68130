"""A kernel with our extension."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.notebook.front_end import Kernel


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    made = Kernel(tmp_path)
    try:
        assert made.run("%load_ext deskcheck").reply["status"] == "ok"
        yield made
    finally:
        made.close()
