"""What the tests of several sources need."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def shared() -> Callable[[str, str], Path]:
    """A file kept beside the repository, or a skip that says what it would have proved."""

    def find(name: str, proves: str) -> Path:
        folder = Path(os.environ.get("DESKCHECK_SHARED", REPOSITORY.parent / "shared"))
        path = folder / "data" / name
        if not path.exists():
            pytest.skip(f"no {name} in DESKCHECK_SHARED or ../shared: would have proved that {proves}")
        return path

    return find
