"""What is written in C. Where it cannot be compiled the package works without, with the reference tracer.

Also: the pages of docs/ become deskcheck/pages in what is installed, for `deskcheck help`; an editable
installation reads them in the checkout. And the text for the page of a package index, where links of the
README lead nowhere unless they are whole.
"""

import re
import shutil
import sys
import sysconfig
from pathlib import Path

try:
    import tomllib
except ImportError:
    sys.exit(f"deskcheck needs Python 3.11 or newer, and this is {sys.version.split()[0]}")

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

DOCS = Path("docs")


class BuildWithPages(build_py):
    """Copies the pages into the built package. The folder `docs` holds them once, in checkout and sdist."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            for page, built in self._pages().items():
                built.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(page, built)

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        pages = [] if self.editable_mode else list(map(str, self._pages().values()))
        return [*super().get_outputs(include_bytecode), *pages]

    def get_source_files(self) -> list[str]:
        return [*super().get_source_files(), *map(str, self._pages())]

    def _pages(self) -> dict[Path, Path]:
        target = Path(self.build_lib, "deskcheck", "pages")
        return {page: target / page.relative_to(DOCS) for page in sorted(DOCS.glob("*/*.md"))}


ROOT = Path(__file__).parent
SOURCE = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]["Source"]


def absolute(text: str) -> str:
    """Markdown whose links and pictures lead to the repository, where they led to files beside it."""

    def link(found: re.Match[str]) -> str:
        before, target = found["before"], found["target"]
        if re.match(r"[a-z]+:|#|/", target):
            return found[0]
        picture = before.startswith("!") or before.lower().startswith("src=")
        return f"{before}{SOURCE}/{'raw' if picture else 'blob'}/main/{target}"

    text = re.sub(r"(?P<before>!\[[^\]]*\]\()(?P<target>[^)\s]+)", link, text)
    text = re.sub(r"(?P<before>\]\()(?P<target>[^)\s]+)", link, text)
    return re.sub(r"(?P<before>(?:src|href|srcset)=[\"'])(?P<target>[^\"']+)", link, text)


include = Path(sysconfig.get_paths()["include"])
setup(
    cmdclass={"build_py": BuildWithPages},
    long_description=absolute((ROOT / "README.md").read_text("utf-8")),
    long_description_content_type="text/markdown",
    ext_modules=[
        Extension(
            "deskcheck.tracer._native",
            ["src/deskcheck/tracer/c/tracer.c"],
            depends=[str(path) for path in sorted(Path("src/deskcheck/tracer/c").glob("*.h"))],
            include_dirs=[str(include), str(include / "internal")],
            extra_compile_args=["-O3", "-fno-strict-aliasing", "-std=c11"],
            optional=True,
        ),
        Extension(
            "deskcheck.recording._columns",
            ["src/deskcheck/recording/_columns.c"],
            extra_compile_args=["-O3", "-std=c11"],
            optional=True,
        ),
        Extension(
            "deskcheck.recording._rows",
            ["src/deskcheck/recording/_rows.c"],
            extra_compile_args=["-O3", "-std=c11"],
            optional=True,
        ),
        Extension(
            "deskcheck.sandbox.surroundings._redirect",
            ["src/deskcheck/sandbox/surroundings/_redirect.c"],
            extra_compile_args=["-O2", "-std=c11"],
            optional=True,
        ),
        Extension(
            "deskcheck.sandbox.linux._syscalls",
            ["src/deskcheck/sandbox/linux/_syscalls.c"],
            extra_compile_args=["-O2", "-std=c11"],
            optional=True,
        ),
    ],
)
