"""Fetching from the Hub, over a server on this machine that answers as the Hub does. Not: the Hub itself."""

import hashlib
import http.server
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from deskcheck.files import cache_folder
from deskcheck.recording import InputError, MissingExtra
from deskcheck.sources import PUBLISHED
from deskcheck.sources.sets.hub import HubFile, HubFiles, fetch
from deskcheck.sources.sets.published import published_set
from tests.sample import spread

REVISION = "0123456789abcdef0123456789abcdef01234567"
ROW = {"id": "sample_0", "code": "def f(a):\n    return a", "input": "1", "output": "1"}
CONTENT = json.dumps(ROW).encode() + b"\n"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@dataclass
class Hub:
    """What the server holds, and what was asked of it. `sent`: what a GET gets in place of the file."""

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    sent: bytes | None = None
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    pytest.importorskip(
        "huggingface_hub", reason="would have proved that sets are fetched, checked, and fetched only once"
    )
    hub = Hub(files={f"/datasets/test/set/resolve/{REVISION}/data/test.jsonl": CONTENT})

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.answer(None)

        def do_GET(self) -> None:
            self.answer(hub.sent)

        def answer(self, instead: bytes | None) -> None:
            hub.asked.append(f"{self.command} {self.path}")
            content = hub.files.get(self.path)
            if content is None:
                self.send_response(404)
                self.send_header("X-Error-Code", "EntryNotFound")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            body = content if instead is None else instead
            self.send_response(200)
            self.send_header("X-Repo-Commit", REVISION)
            self.send_header("ETag", f'"{hashlib.sha1(content).hexdigest()}"')
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "huggingface"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        hub.address = f"http://127.0.0.1:{server.server_port}"
        yield hub
        server.shutdown()
        thread.join()


def ignore(note: str) -> None:
    pass


def files(sha256: str | None = SHA256, name: str = "data/test.jsonl") -> HubFiles:
    return HubFiles(repo="test/set", revision=REVISION, files=(HubFile(name=name, sha256=sha256),))


def kept() -> Path:
    return cache_folder() / "sets" / "tried" / REVISION / "data" / "test.jsonl"


def left_behind() -> list[str]:
    return sorted(path.name for path in kept().parent.iterdir())


@pytest.mark.parametrize("sha256", [SHA256, None])
def test_a_file_is_fetched_once(hub: Hub, sha256: str | None) -> None:
    """The first use fetches the pinned revision, the second asks nobody, even with the server gone."""
    assert fetch(files(sha256), "tried", note=ignore, endpoint=hub.address) == [kept()]
    assert kept().read_bytes() == CONTENT
    assert {line.split()[1] for line in hub.asked} == set(hub.files)
    hub.asked.clear()
    assert fetch(files(sha256), "tried", note=ignore, endpoint="http://127.0.0.1:1") == [kept()]
    assert hub.asked == []
    assert left_behind() == ["test.jsonl"] + (["test.jsonl.sha256"] if sha256 is None else [])


def by_hand(error: pytest.ExceptionInfo[InputError]) -> bool:
    """Whether the error says which file to get, where to put it, and how to pass it."""
    address = f"https://huggingface.co/datasets/test/set/resolve/{REVISION}/data/test.jsonl"
    return all(part in str(error.value) for part in (address, str(kept()), "tried:PATH"))


@pytest.mark.parametrize(
    ("sent", "sha256"),
    [(CONTENT[:20], SHA256), (CONTENT[:20], None), (b"", SHA256), (CONTENT + b"more", SHA256)],
)
def test_a_truncated_answer_is_not_kept(hub: Hub, sent: bytes, sha256: str | None) -> None:
    """Fewer or more bytes than the Hub announced leave nothing behind, and the next try starts anew."""
    hub.sent = sent
    with pytest.raises(
        InputError, match=f"could not fetch data/test.jsonl of .* at revision {REVISION}"
    ) as caught:
        fetch(files(sha256), "tried", note=ignore, endpoint=hub.address)
    assert by_hand(caught)
    assert left_behind() == []
    hub.sent = None
    assert fetch(files(sha256), "tried", note=ignore, endpoint=hub.address) == [kept()]


def test_wrong_bytes_are_set_aside(hub: Hub) -> None:
    """A file of the right size with other bytes is kept under another name and never used."""
    wrong = CONTENT.replace(b"sample_0", b"sample_1")
    hub.sent = wrong
    with pytest.raises(InputError, match="is not the published file") as caught:
        fetch(files(), "tried", note=ignore, endpoint=hub.address)
    assert by_hand(caught)
    assert SHA256 in str(caught.value)
    (aside,) = left_behind()
    assert aside.startswith("test.jsonl.rejected-")
    assert (kept().parent / aside).read_bytes() == wrong
    assert aside in str(caught.value)
    hub.sent = None
    assert fetch(files(), "tried", note=ignore, endpoint=hub.address)[0].read_bytes() == CONTENT


@pytest.mark.parametrize("sha256", [SHA256, None])
def test_a_kept_file_that_changed_is_set_aside(hub: Hub, sha256: str | None) -> None:
    """Pinned or trusted on first use: what is read later is what was fetched, or an error."""
    fetch(files(sha256), "tried", note=ignore, endpoint=hub.address)
    kept().write_bytes(b"{}\n")
    with pytest.raises(InputError, match=f"expected {SHA256}"):
        fetch(files(sha256), "tried", note=ignore, endpoint=hub.address)
    assert not kept().exists()
    assert fetch(files(sha256), "tried", note=ignore, endpoint=hub.address)[0].read_bytes() == CONTENT


def test_a_file_put_there_by_hand_is_used(hub: Hub) -> None:
    """What the error advises works: the file is checked and read, and nobody is asked."""
    kept().parent.mkdir(parents=True)
    kept().write_bytes(CONTENT)
    assert fetch(files(), "tried", note=ignore, endpoint=hub.address) == [kept()]
    assert hub.asked == []


def test_a_file_that_the_hub_lacks(hub: Hub) -> None:
    """A 404 is an error with the way out."""
    hub.files.clear()
    with pytest.raises(InputError, match="EntryNotFoundError") as caught:
        fetch(files(), "tried", note=ignore, endpoint=hub.address)
    assert by_hand(caught)


@pytest.mark.exhaustive
def test_no_server_at_all(hub: Hub) -> None:
    """Nobody answers: first a note of what is tried, then an error with the way out."""
    notes: list[str] = []
    with pytest.raises(InputError, match="could not fetch") as caught:
        fetch(files(), "tried", note=notes.append, endpoint="http://127.0.0.1:1")
    assert by_hand(caught)
    assert notes == [
        f"tried: fetching data/test.jsonl of test/set from the Hugging Face Hub into {kept().parent}."
    ]


def test_a_cache_that_cannot_be_written(hub: Hub, tmp_path: Path) -> None:
    """A file in the way of the cache's folder is an error of ours, not a traceback."""
    (tmp_path / "cache").write_text("")
    with pytest.raises(InputError, match=r"tried: .* Get https://huggingface\.co/datasets/test/set/resolve/"):
        fetch(files(), "tried", note=ignore, endpoint=hub.address)


def test_a_set_comes_from_its_files_in_order(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs of a fetched set are those of its files, and say which revision they came from."""
    second = CONTENT.replace(b"sample_0", b"sample_1")
    hub.files[f"/datasets/test/set/resolve/{REVISION}/more.jsonl"] = second
    two = replace(files(), files=(*files().files, HubFile(name="more.jsonl", sha256=None)))
    monkeypatch.setattr(
        "deskcheck.sources.sets.published.PUBLISHED", {"tried": replace(PUBLISHED["cruxeval"], hub=two)}
    )
    found = list(published_set("tried", note=ignore, endpoint=hub.address))
    assert [(program.id, program.source) for program in found] == [
        ("sample_0", f"https://huggingface.co/datasets/test/set/blob/{REVISION}/data/test.jsonl"),
        ("sample_1", f"https://huggingface.co/datasets/test/set/blob/{REVISION}/more.jsonl"),
    ]


FETCHED = [name for name, known in PUBLISHED.items() if known.hub is not None]


@pytest.mark.parametrize("name", spread(FETCHED, 3))
def test_offline_names_every_set(tmp_path: Path, name: str) -> None:
    """With the Hub switched off, each set's error names repository, file, revision and the way out."""
    code = (
        "from deskcheck.sources import programs\nfrom deskcheck.recording import DeskcheckError\n"
        f"try: programs({name!r})\nexcept DeskcheckError as error: print(error)"
    )
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "XDG_CACHE_HOME": str(tmp_path)}
    environment["HF_HOME"] = str(tmp_path / "huggingface")
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    hub = PUBLISHED[name].hub
    assert hub is not None
    for part in (name, hub.repo, hub.revision, hub.files[0].name, f"{name}:PATH", str(tmp_path)):
        assert part in ran.stdout


def test_without_huggingface_hub_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the command that installs it, and the way without."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    notes: list[str] = []
    with pytest.raises(MissingExtra, match=r"tried:PATH.*pip install 'deskcheck\[sets\]'"):
        fetch(files(), "tried", note=notes.append)
    assert notes == []  # nothing is said to be fetched


@pytest.mark.parametrize(
    ("given", "used"), [("/elsewhere", "/elsewhere"), ("", "/home/x/.cache"), ("rel", "/home/x/.cache")]
)
def test_only_an_absolute_cache_home_counts(monkeypatch: pytest.MonkeyPatch, given: str, used: str) -> None:
    """As the XDG specification has it."""
    monkeypatch.setenv("HOME", "/home/x")
    monkeypatch.setenv("XDG_CACHE_HOME", given)
    assert cache_folder() == Path(used) / "deskcheck"


def test_what_is_published_is_pinned() -> None:
    """Revisions are whole commits, checksums whole SHA-256, and at most one file's is unknown."""
    hubs = [known.hub for known in PUBLISHED.values() if known.hub is not None]
    for hub in hubs:
        assert len(bytes.fromhex(hub.revision)) == 20
        for file in hub.files:
            assert file.sha256 is None or len(bytes.fromhex(file.sha256)) == 32
    unknown = [file.name for hub in hubs for file in hub.files if file.sha256 is None]
    assert unknown == ["full/prompt-00000-of-00001.parquet"]
