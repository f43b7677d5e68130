"""The modules in an archive that Python runs: ``python app.pyz`` (`zipapp`)."""

import importlib.util
import zipfile
from pathlib import Path

MAIN = "__main__.py"
_MOST_BYTES = 64 << 20


def modules_in_archive(path: Path) -> dict[str, str] | None:
    """Name -> text of the modules in a zip archive. None for other files, and for archives with too much
    text.

    An archive of a few KB may expand to very much text.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            modules = [entry for entry in archive.infolist() if entry.filename.endswith(".py")]
            if sum(entry.file_size for entry in modules) > _MOST_BYTES:
                return None
            return {entry.filename: _decoded(archive.read(entry)) for entry in modules}
    except (OSError, ValueError, RuntimeError, NotImplementedError, zipfile.BadZipFile, EOFError):
        return None


def _decoded(data: bytes) -> str:
    try:
        return importlib.util.decode_source(data)
    except (SyntaxError, UnicodeDecodeError):
        return data.decode("utf-8", "replace")
