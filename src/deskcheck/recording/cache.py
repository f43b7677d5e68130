"""Where deskcheck keeps what it can make or fetch again."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """``$XDG_CACHE_HOME/deskcheck``; only an absolute value counts (XDG Base Directory, "Basics")."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(given) if os.path.isabs(given) else Path.home() / ".cache") / "deskcheck"
