"""Files that earlier versions wrote are read for ever, and say the same."""

import json
from pathlib import Path

import pytest

VERSIONS = sorted(path for path in Path(__file__).parent.iterdir() if (path / "expected.json").exists())


@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.name)
def test_what_a_version_wrote_says_the_same(folder: Path) -> None:
    pytest.importorskip("inspect_ai", reason="would have proved that files of earlier versions are read")
    from tests.compatible.reading import everything

    assert json.loads(json.dumps(everything(folder))) == json.loads(
        (folder / "expected.json").read_text("utf-8")
    )


def test_there_are_files() -> None:
    assert VERSIONS
