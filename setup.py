"""What is written in C. Where it cannot be compiled the package works without, with the reference tracer.

Also: the pages of docs/ become deskcheck/pages in what is installed, for `deskcheck help`. An editable
installation reads them in the checkout.
"""

import shutil
import sysconfig
from pathlib import Path

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


include = Path(sysconfig.get_paths()["include"])
setup(
    cmdclass={"build_py": BuildWithPages},
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
            "deskcheck.sandbox.linux._syscalls",
            ["src/deskcheck/sandbox/linux/_syscalls.c"],
            extra_compile_args=["-O2", "-std=c11"],
            optional=True,
        ),
    ],
)
