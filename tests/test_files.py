"""Files for people are whole or as they were."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from deskcheck.errors import InputError
from deskcheck.files import write_file


def test_a_file_is_written_and_measured(tmp_path: Path) -> None:
    """UTF-8 with line ends as they are; half a surrogate pair, which UTF-8 lacks, does not end it."""
    size = write_file(tmp_path / "page", ["é\n", "\ud800", "b\r\n"])
    assert (tmp_path / "page").read_bytes() == b"\xc3\xa9\n?b\r\n"
    assert size == 7


def test_another_takes_its_place(tmp_path: Path) -> None:
    """The new file has the permissions of the old; through a link, the file that it leads to is replaced."""
    page, link = tmp_path / "page", tmp_path / "link"
    page.write_text("old")
    page.chmod(0o640)
    link.symlink_to("page")
    write_file(link, ["new"])
    assert (page.read_text(), stat.S_IMODE(page.stat().st_mode)) == ("new", 0o640)
    assert link.is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["link", "page"]


WRITE = """
import resource, sys
from pathlib import Path
from deskcheck.errors import InputError
from deskcheck.files import write_file
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    write_file(Path(sys.argv[1]), ["a" * 1000] * 1000)
except InputError as error:
    print(error)
"""


@pytest.mark.parametrize("before", [None, "old"])
def test_where_the_disk_refuses_nothing_changes(tmp_path: Path, before: str | None) -> None:
    """A limit on file size stops the writing half way: the error names the way out, no part of a file is left."""
    page = tmp_path / "page"
    if before is not None:
        page.write_text(before)
    ran = subprocess.run(
        [sys.executable, "-c", WRITE, str(page)], capture_output=True, text=True, check=True, timeout=300
    )
    assert f"{page}: cannot be written: File too large. It would pass the limit" in ran.stdout
    assert ("What was there before is unchanged." in ran.stdout) == (before is not None)
    assert [path.read_text() for path in tmp_path.iterdir()] == [before] * (before is not None)


def test_a_full_device(tmp_path: Path) -> None:
    """What is no regular file is written to as it is, and a full one is said to be full."""
    with pytest.raises(InputError, match=r"/dev/full: cannot be written: No space left .* The disk is full"):
        write_file(Path("/dev/full"), ["a"])
    reading, writing = os.pipe()
    write_file(Path(f"/dev/fd/{writing}"), ["a"])
    assert os.read(reading, 10) == b"a"
    os.close(reading)
    os.close(writing)


def test_an_error_of_the_writer_leaves_nothing(tmp_path: Path) -> None:
    """Whatever ends the pieces ends the file."""

    def pieces() -> Iterator[str]:
        yield "a"
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        write_file(tmp_path / "page", pieces())
    assert [*tmp_path.iterdir()] == []


def test_no_folder(tmp_path: Path) -> None:
    """A folder that is not there is said with the way out."""
    with pytest.raises(InputError, match=r"No such file or directory\. Make the folder first"):
        write_file(tmp_path / "no" / "page", ["a"])
