"""Files of data sets on the Hugging Face Hub: fetched once, checked, and then read from disk.

A file is pinned by the revision of its repository and, if known, by its SHA-256. If the SHA-256 is not known,
the first fetch is trusted and its SHA-256 is stored beside the file, which must match it from then on. A file
that does not match is renamed and never read.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from deskcheck.files import cache_folder, sha256
from deskcheck.recording import InputError, MissingExtra


@dataclass(frozen=True, slots=True, kw_only=True)
class HubFile:
    """A file in a data set's repository; sha256 is None if it is not known."""

    name: str
    sha256: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HubFiles:
    """Files of one data set at one revision, in the order of their rows."""

    repo: str
    revision: str
    files: tuple[HubFile, ...]

    @property
    def home(self) -> str:
        return f"https://huggingface.co/datasets/{self.repo}"

    def page(self, file: HubFile) -> str:
        """Address of the page that shows exactly this file."""
        return f"{self.home}/blob/{self.revision}/{file.name}"

    def download(self, file: HubFile) -> str:
        return f"{self.home}/resolve/{self.revision}/{file.name}"


def fetch(
    hub: HubFiles, name: str, *, note: Callable[[str], None], endpoint: str | None = None
) -> list[Path]:
    """Paths of the files on this machine, in the order of `hub.files`. Missing files are downloaded.

    name: the user's name of the set. note: takes a sentence before each download. endpoint: the address of
    the Hub; None for the one that huggingface_hub takes from HF_ENDPOINT. No access token is sent.

    Raises:
        InputError: a file cannot be fetched, or is not the expected file. The message says where to get it
            and where to put it.
        MissingExtra: something must be fetched, and huggingface_hub is not installed.
    """
    folder = cache_folder() / "sets" / name / hub.revision
    return [_fetch_file(hub, file, folder / file.name, name, note, endpoint) for file in hub.files]


def _fetch_file(
    hub: HubFiles,
    file: HubFile,
    local_path: Path,
    name: str,
    note: Callable[[str], None],
    endpoint: str | None,
) -> Path:
    by_hand = (
        f"Get {hub.download(file)} some other way and put it at {local_path}, or pass the file: {name}:PATH"
    )
    try:
        if not local_path.exists():
            _download(hub, file, local_path, name, note, endpoint, by_hand)
        _check(file, local_path, by_hand)
    except OSError as error:
        raise InputError(f"{name}: {local_path}: {error.strerror or error}. {by_hand}") from error
    return local_path


def _download(
    hub: HubFiles,
    file: HubFile,
    local_path: Path,
    name: str,
    note: Callable[[str], None],
    endpoint: str | None,
    by_hand: str,
) -> None:
    try:
        from huggingface_hub import hf_hub_download
    except ImportError as error:
        raise MissingExtra(
            "huggingface_hub", "sets", f"Fetching {name} (or pass a file: {name}:PATH)"
        ) from error
    # Without a network huggingface_hub tries for some twenty seconds without a message.
    note(f"{name}: fetching {file.name} of {hub.repo} from the Hugging Face Hub into {local_path.parent}.")
    local_path.parent.mkdir(parents=True, exist_ok=True)
    # Beside its final place, so that the move is one rename: another process sees all of the file or none.
    with tempfile.TemporaryDirectory(dir=local_path.parent, prefix=".incoming-") as incoming:
        try:
            arrived = hf_hub_download(
                repo_id=hub.repo,
                filename=file.name,
                repo_type="dataset",
                revision=hub.revision,
                endpoint=endpoint,
                local_dir=incoming,
                token=False,
            )
        except Exception as error:
            raise InputError(
                f"{name}: could not fetch {file.name} of the data set {hub.repo} at revision {hub.revision}: "
                f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]} {by_hand}"
            ) from error
        Path(arrived).replace(local_path)


def _check(file: HubFile, local_path: Path, by_hand: str) -> None:
    noted = local_path.with_name(local_path.name + ".sha256")
    expected = file.sha256
    if expected is None and noted.exists():
        expected = noted.read_text().partition(" ")[0]
    actual = sha256(local_path)
    if expected is None:
        noted.write_text(f"{actual}  {local_path.name}\n")  # the form that `sha256sum --check` reads
    elif actual != expected:
        aside = local_path.with_name(f"{local_path.name}.rejected-{actual[:12]}")
        local_path.replace(aside)
        raise InputError(
            f"{local_path}: is not the published file: its SHA-256 is {actual}, expected {expected}. "
            f"It was not used and is now {aside}. {by_hand}"
        )
