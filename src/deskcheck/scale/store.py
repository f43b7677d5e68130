"""A folder that is not a path: in an object store, or on another file system that pyarrow or fsspec knows.

What is read and written is whole files, in chunks. What a store refuses, or does not answer, is a
RecordingError in one line. Not: locks and renames, which object stores lack; so no job runs in one.
"""

import importlib.util
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.fs

from deskcheck.errors import DeskcheckError, InputError, RecordingError

CHUNK_BYTES = 4 << 20
"""How much of a file is in memory. Of a store each chunk is a request."""
_GCS_WAIT_S = 30
"""pyarrow's own is a quarter of an hour. Of S3 it tries for some seconds."""
_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_SECRET = re.compile(r"(?<=://)[^/@?]*:[^/@?]*@")
_NO_BUCKET = r"NO_SUCH_BUCKET|[Bb]ucket( \S+)? (not found|does not exist)"
_NOT_ALLOWED = (
    r"ACCESS_DENIED|INVALID_ACCESS_KEY|SIGNATURE_DOES_NOT|UNRECOGNIZED_CLIENT|INVALID_CLIENT_TOKEN|EXPIRED"
    r"|PERMISSION_DENIED|UNAUTHENTICATED|[Cc]redential|access token|HTTP (status|response code:?) 40[13]"
)
_NOT_REACHED = (
    r"NETWORK_CONNECTION|REQUEST_TIMEOUT|SLOW_DOWN|UNAVAILABLE|[Tt]imed? ?out|CURL error|Connection refused"
)
_CREDENTIALS = (
    "It wants credentials that allow this: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or ~/.aws for s3, "
    "GOOGLE_APPLICATION_CREDENTIALS for gs."
)
_WAYS_OUT = {
    _NO_BUCKET: "There is no such bucket: make it first, or correct its name.",
    _NOT_ALLOWED: _CREDENTIALS,
    _NOT_REACHED: "Is the address right, and is there a way to it? The same command goes on.",
    "libjvm|libhdfs": "hdfs:// needs Java and Hadoop's client: set JAVA_HOME and HADOOP_HOME.",
}


class Store:
    """The files directly in one folder. shown: its URI, without secrets and options."""

    def __init__(self, uri: str) -> None:
        """Raises InputError where there can be no such place, RecordingError where it is not reached."""
        scheme = _URI.match(uri)
        if scheme is None:
            raise InputError(
                f"{uri}: is no URI of a remote folder, as s3://bucket/runs/big, gs://bucket/runs/big or "
                "file:///mnt/runs/big are."
            )
        self.shown = without_secrets(uri.partition("?")[0]).rstrip("/")
        with self.doing("be reached"):
            self._system, path = _open(uri, scheme[1].lower())
        self._path = path.rstrip("/")
        if not self._path:
            raise InputError(f"{self.shown}: names no folder: add one, as in {self.shown}/runs/big.")
        kind = self._system.type_name
        self._local = kind == "local"
        self._has_folders = kind not in ("s3", "gcs", "abfs")

    @contextmanager
    def doing(self, what: str) -> Iterator[None]:
        """What the store refuses in the block becomes a RecordingError."""
        try:
            yield
        except DeskcheckError:
            raise
        except Exception as error:  # libraries below fsspec have errors of their own
            said = without_secrets(" ".join(str(error).split())) or type(error).__name__
            way_out = next((way for pattern, way in _WAYS_OUT.items() if re.search(pattern, said)), "")
            said = re.sub(r" *\(Request ID: [^)]*\)", "", said)[:300].rstrip(". ")
            raise RecordingError(
                f"{self.shown}: cannot {what}: {said}. {way_out}".rstrip(), self.shown
            ) from error

    def sizes(self) -> dict[str, int]:
        """Its files, by name; none where there is no such folder. Raises RecordingError where there is not
        even the bucket."""
        with self.doing("list what is there"):
            selector = pa.fs.FileSelector(self._path, allow_not_found=True)
            try:
                found = self._system.get_file_info(selector)
            except FileNotFoundError:  # Arrow's, where a folder comes into being while it looks
                found = []
            if not found and not self._has_folders:
                bucket = self._path.partition("/")[0]
                if self._system.get_file_info(bucket).type == pa.fs.FileType.NotFound:
                    raise FileNotFoundError(f"bucket {bucket!r} not found")
        return {info.base_name: info.size for info in found if info.type == pa.fs.FileType.File}

    def read(self, name: str) -> bytes:
        return b"".join(self.chunks(name))

    def chunks(self, name: str) -> Iterator[bytes]:
        """The bytes of a file, in order."""
        with self.doing(f"read {name}"), self._system.open_input_stream(self._at(name)) as file:
            while chunk := file.read(CHUNK_BYTES):
                yield chunk

    def write(self, name: str, chunks: Iterable[bytes]) -> None:
        """Write a file that is whole or absent where the store can do that: object stores and local disks.
        Where `chunks` raises, there is none."""
        with self.doing(f"write {name}"):
            if self._has_folders:
                self._system.create_dir(self._path, recursive=True)
            at = self._at(f"{name}.part" if self._local else name)
            stream = self._system.open_output_stream(at)
            try:
                for chunk in chunks:
                    stream.write(chunk)
            except BaseException:
                self._take_back(stream, at)
                raise
            stream.close()
            if self._local:
                self._system.move(at, self._at(name))

    def _take_back(self, stream: Any, at: str) -> None:
        """A stream cannot be given up, only closed: then the file is there, cut off."""
        try:
            stream.close()
            self._system.delete_file(at)
        except (OSError, pa.ArrowException):  # what happened first is what to report
            pass

    def delete(self, name: str) -> None:
        """Delete a file; one that is not there, too."""
        with self.doing(f"delete {name}"):
            try:
                self._system.delete_file(self._at(name))
            except FileNotFoundError:
                pass

    def _at(self, name: str) -> str:
        return f"{self._path}/{name}"


def without_secrets(text: str) -> str:
    """Without the keys that URIs in it may have before their hosts."""
    return _SECRET.sub("", text)


def _open(uri: str, scheme: str) -> tuple[Any, str]:
    if scheme in ("gs", "gcs") and "retry_limit_seconds=" not in uri:
        uri += f"{'&' if '?' in uri else '?'}retry_limit_seconds={_GCS_WAIT_S}"
    try:
        system, path = pa.fs.FileSystem.from_uri(uri)
    except pa.ArrowInvalid as error:
        if "Unrecognized filesystem type" not in str(error):
            raise InputError(without_secrets(f"{uri}: {error}.")) from None
        return _by_fsspec(uri, scheme)
    if system.type_name == "s3":
        system = _bounded(system)
    return system, path


def _bounded(system: Any) -> Any:
    """The same S3, but that writes wait for the network: pyarrow would hold in memory whatever is not sent.
    Small files are one request in place of three."""
    same, (options,) = system.__reduce__()
    wanted = {"background_writes": False, "allow_delayed_open": True}
    return same({**options, **{name: value for name, value in wanted.items() if name in options}})


def _by_fsspec(uri: str, scheme: str) -> tuple[Any, str]:
    unknown = f"{without_secrets(uri)}: pyarrow knows no {scheme}://"
    if importlib.util.find_spec("fsspec") is None:
        raise InputError(f"{unknown}, and fsspec is not installed, which may: pip install fsspec.")
    from fsspec.core import url_to_fs

    try:
        system, path = url_to_fs(uri)
    except (ValueError, ImportError) as error:
        raise InputError(f"{unknown}, nor does fsspec: {error}. Use s3://, gs:// or file://.") from None
    return pa.fs.PyFileSystem(pa.fs.FSSpecHandler(system)), path
