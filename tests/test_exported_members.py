"""What a package lists is what it has."""

import importlib
import subprocess
import sys

import pytest

import deskcheck


@pytest.mark.parametrize(
    "name",
    [
        "deskcheck",
        "deskcheck.recording",
        "deskcheck.tracer",
        "deskcheck.sandbox",
        "deskcheck.notebook",
        "deskcheck.notation",
        "deskcheck.view",
    ],
)
def test_everything_listed_is_there(name: str) -> None:
    """Each name in `__all__` can be had, and none of them twice."""
    module = importlib.import_module(name)
    assert len(set(module.__all__)) == len(module.__all__)
    for member in module.__all__:
        assert getattr(module, member) is not None


def test_what_is_shown_of_the_package_is_public() -> None:
    """`dir` has the names to rely on, and none that were only imported."""
    assert dir(deskcheck) == sorted([*deskcheck.__all__, "__version__"])


def test_the_package_is_light() -> None:
    """`import deskcheck` brings neither pyarrow nor torch nor Inspect nor a client of models nor a notebook stack."""
    code = (
        "import sys, deskcheck, deskcheck.tracer, deskcheck.ask\n"
        "print(sorted({'pyarrow', 'torch', 'inspect_ai', 'openai', 'jupyter_client', 'typer'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
