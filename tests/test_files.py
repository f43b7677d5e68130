"""Files for people are whole or as they were."""

import os
import re
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from deskcheck.errors import InputError, RecordingError
from deskcheck.files import (
    FolderLock,
    NotJSON,
    open_file,
    opened_name,
    read_file,
    read_json,
    read_text,
    write_file,
)


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
from deskcheck.files import (
    FolderLock,
    NotJSON,
    open_file,
    opened_name,
    read_file,
    read_json,
    read_text,
    write_file,
)
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
    assert f"{page}: cannot be written: File too large. The limit on file size" in ran.stdout
    assert ("The old file is unchanged." in ran.stdout) == (before is not None)
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


# -- what somebody else wrote -------------------------------------------------------------------------

SECRET = "root:$6$hunter2$S3CR3T:19000:0:99999:7:::\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.json:3: is not JSON at column 1: Expecting value. Mend it."),
        ('{"a": [1,\n 2', "f.json:3: is not JSON at line 2, column 3: Expecting ',' delimiter. Mend it."),
        (b'"\xff"', "f.json:3: is not UTF-8 at byte 1. Mend it."),
        (b"[" * 200_000, "f.json:3: is nested too deeply. Mend it."),
        ("9" * 5000, "f.json:3: has a whole number of more than 4300 digits. Mend it."),
        (SECRET, "f.json:3: is not JSON at column 1: Expecting value. Mend it."),
        (f'["{SECRET}', "f.json:3: is not JSON at column 44: Invalid control character at. Mend it."),
    ],
)
def test_json_that_cannot_be_read(text: str | bytes, message: str) -> None:
    """One error for all that can be wrong: the place, what it is, what to do, and nothing of the text."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(4300)  # a library that an earlier test has used may have taken the limit away
    try:
        with pytest.raises(InputError) as caught:
            read_json(text, "f.json:3", "Mend it.")
    finally:
        sys.set_int_max_str_digits(before)
    assert str(caught.value) == message
    assert isinstance(caught.value, ValueError)
    assert "S3CR3T" not in str(caught.value)


def test_json_that_is_cut_off() -> None:
    """Every beginning of a text is cut off, and says so; what has more after it is not."""
    text = '{"a": [1, {"b": "c\\n"}], "d": null}'
    for end in range(len(text)):
        with pytest.raises(NotJSON) as caught:
            read_json(text[:end])
        assert caught.value.cut or text[:end].endswith(("nu", "nul", "n")), text[:end]
    with pytest.raises(NotJSON) as caught:
        read_json(text + "]")
    assert not caught.value.cut
    assert read_json(b"\xef\xbb\xbf" + text.encode()) == read_json(text)


def test_nothing_but_a_regular_file_is_opened(tmp_path: Path) -> None:
    """A pipe that nobody writes to, a device, a socket and links to them are refused at once."""
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
    (tmp_path / "device").symlink_to("/dev/zero")
    (tmp_path / "link").symlink_to("pipe")
    reasons = {
        "pipe": "it is a named pipe, not a regular file",
        "link": "it is a named pipe, not a regular file",
        "device": "it is a device, not a regular file",
        "socket": "it is not a regular file",
        ".": "Is a directory",
        "none": "No such file or directory",
    }
    for name, reason in reasons.items():
        with pytest.raises(OSError, match=reason):
            open_file(tmp_path / name)


def test_a_regular_file_is_read(tmp_path: Path) -> None:
    """By its bytes, its text, and by a library that opens names; through a link, and from an open pipe too."""
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_bytes(b"\xc3\xa9\r\n\xff")
    link.symlink_to("file")
    assert read_file(link) == b"\xc3\xa9\r\n\xff"
    assert read_text(file, "replace") == "é\n\ufffd"
    with opened_name(link) as name, open(name, "rb") as again:
        assert again.read() == file.read_bytes()
    reading, writing = os.pipe()
    os.write(writing, b"piped")
    os.close(writing)
    assert read_file(f"/dev/fd/{reading}") == b"piped"
    os.close(reading)


def test_a_lock_that_is_not_ours_is_not_shown_and_not_written(tmp_path: Path) -> None:
    """A link in the place of a lock is refused, and what it leads to stays as it is. A lock that another process
    has shows that process and nothing else."""
    (tmp_path / "shadow").write_text(SECRET)
    (tmp_path / ".lock").symlink_to("shadow")
    with pytest.raises((OSError, RecordingError)) as caught:
        FolderLock(tmp_path)
    assert "S3CR3T" not in str(caught.value)
    assert (tmp_path / "shadow").read_text() == SECRET
    (tmp_path / ".lock").unlink()
    (tmp_path / ".lock").write_text(SECRET)
    hold = "import fcntl, sys; f = open(sys.argv[1], 'r+'); fcntl.lockf(f, fcntl.LOCK_EX); print(1, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(tmp_path / ".lock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(RecordingError, match="another process is writing here") as refused:
            FolderLock(tmp_path)
        assert "S3CR3T" not in str(refused.value)
        holder.communicate(b"\n")


TRUSTED = {
    "files.py": "the one reader",
    "recording/value.py": "texts of the tracer and of checked rows, a million at a time",
    "recording/block.py": "texts of the tracer in this process",
    "sources/shipped/cp_bench.py": "runs in the sandbox, in a program of the check",
    "sources/sets/evalplus.py": "runs in the sandbox, in a program of the check",
    "sandbox/linux/guard.py": "told by our own process",
    "sandbox/server.py": "told by our own process",
    "sandbox/environments.py": "told by an interpreter that runs our own script",
    "jobs/work.py": "told by the process that started it",
    "recorder/run_child.py": "told by the process that started it",
    "bench/interpreter.py": "runs in another interpreter, without deskcheck",
    "notebook/jupyter/magic.py": "told by the process that started it",
    "notebook/jupyter/comm.py": "written by ourselves",
    "notebook/jupyter/server.py": "signed messages of a front end, as Jupyter Server reads them",
    "notebook/state/capture.py": "texts of the tracer in this process",
    "notebook/trajectory/file.py": "written by ourselves a moment before",
    "teach/lessons/lessons.py": "written by ourselves a moment before",
    "ask/results/folder.py": "written by ourselves a moment before",
    "ask/inspect/models.py": "written by ourselves a moment before",
    "recorder/job.py": "written by ourselves a moment before",
    "ask/kinds/results.py": "columns of rows that the reader of recordings has checked",
    "ask/kinds/runs.py": "columns of rows that the reader of recordings has checked",
    "ask/kinds/objects.py": "columns of rows that the reader of recordings has checked",
    "ask/methods/ground_truth.py": "columns of rows that the reader of recordings has checked",
    "view/trace_data.py": "columns of rows that the reader of recordings has checked",
    "view/table.py": "columns of rows that the reader of recordings has checked",
}
"""Files that read JSON otherwise -> why it is not somebody else's."""


def test_one_function_reads_the_json_of_others() -> None:
    """`json.loads` stands nowhere else, but where nobody else can have written the text."""
    source = Path(__file__).parent.parent / "src" / "deskcheck"
    loading = re.compile(r"\bjson\.loads?\(")
    found = {
        str(path.relative_to(source))
        for path in source.rglob("*.py")
        if loading.search(path.read_text(encoding="utf-8")) and "inside" not in path.parts
    }
    assert found == set(TRUSTED)
