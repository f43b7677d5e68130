"""Files of data sets on the Hugging Face Hub: fetched once, checked, and from then on read from disk.

A file is pinned by the revision of its repository and, where we know it, by its SHA-256. Where we do
not, the first fetch is trusted and its SHA-256 kept beside it; whatever stands there later must match.
A file that does not match is set aside and never read.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from deskcheck.files import cache_folder, sha256
from deskcheck.recording import InputError, MissingExtra


@dataclass(frozen=True, slots=True, kw_only=True)
class HubFile:
    """A file in a data set's repository; sha256 is None where it could not be found out."""

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
        """Address where a reader finds exactly this file."""
        return f"{self.home}/blob/{self.revision}/{file.name}"

    def download(self, file: HubFile) -> str:
        return f"{self.home}/resolve/{self.revision}/{file.name}"


def fetch(
    hub: HubFiles, name: str, *, note: Callable[[str], None], endpoint: str | None = None
) -> list[Path]:
    """Paths of the files on this machine, in the order of `hub.files`; missing ones are downloaded.

    `name` is what the user calls the set; `note` is told of each download before it begins. endpoint:
    address of the Hub, where it is not the usual one (None: what huggingface_hub takes from
    HF_ENDPOINT). No access token is sent.

    Raises:
        InputError: a file cannot be fetched or is not the file we know; says where to get it and
            where to put it.
        MissingExtra: something must be fetched, and huggingface_hub is not installed.
    """
    folder = cache_folder() / "sets" / name / hub.revision
    return [_fetch_file(hub, file, folder / file.name, name, note, endpoint) for file in hub.files]


def _fetch_file(
    hub: HubFiles, file: HubFile, kept: Path, name: str, note: Callable[[str], None], endpoint: str | None
) -> Path:
    by_hand = f"Get {hub.download(file)} some other way and put it at {kept}, or pass the file: {name}:PATH"
    try:
        if not kept.exists():
            _download(hub, file, kept, name, note, endpoint, by_hand)
        _check(file, kept, by_hand)
    except OSError as error:
        raise InputError(f"{name}: {kept}: {error.strerror or error}. {by_hand}") from error
    return kept


def _download(
    hub: HubFiles,
    file: HubFile,
    kept: Path,
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
    # Without a network huggingface_hub tries for some twenty seconds and says nothing.
    note(f"{name}: fetching {file.name} of {hub.repo} from the Hugging Face Hub into {kept.parent}.")
    kept.parent.mkdir(parents=True, exist_ok=True)
    # Beside its final place, so that the move is one rename: another process sees all of the file or none.
    with tempfile.TemporaryDirectory(dir=kept.parent, prefix=".incoming-") as incoming:
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
        Path(arrived).replace(kept)


def _check(file: HubFile, kept: Path, by_hand: str) -> None:
    noted = kept.with_name(kept.name + ".sha256")
    expected = file.sha256
    if expected is None and noted.exists():
        expected = noted.read_text().partition(" ")[0]
    actual = sha256(kept)
    if expected is None:
        noted.write_text(f"{actual}  {kept.name}\n")  # the form that `sha256sum --check` reads
    elif actual != expected:
        aside = kept.with_name(f"{kept.name}.rejected-{actual[:12]}")
        kept.replace(aside)
        raise InputError(
            f"{kept}: is not the published file: its SHA-256 is {actual}, expected {expected}. "
            f"It was not used and is now {aside}. {by_hand}"
        )
