"""What is written in C. Where it cannot be compiled the package works without, with the reference tracer."""

import sysconfig
from pathlib import Path

from setuptools import Extension, setup

include = Path(sysconfig.get_paths()["include"])
setup(
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
    ]
)
