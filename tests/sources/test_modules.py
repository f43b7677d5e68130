"""Finding a module's source, and whose it is."""

import importlib.metadata
import sys
from email.message import Message
from pathlib import Path
from typing import cast

import pytest

from deskcheck.recording import InputError
from deskcheck.sources import programs
from deskcheck.sources.text.modules import find_source, stated_licence


def test_every_library_module_is_found_or_has_no_source() -> None:
    """Over the whole standard library: a source file, or an error that says why there is none."""
    found, reasons = 0, []
    for name in sys.stdlib_module_names:
        try:
            found += find_source(name, []).is_file()
        except InputError as error:
            reasons.append(str(error))
    assert found > 150
    assert all(
        "compiled" in reason or "no module" in reason for reason in reasons
    )  # some are for other systems


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("heapqq", "heapqq: no module, file or folder has the name heapqq. Did you mean heapq"),
        ("json.decodr", r"no module, file or folder has the name json\.decodr\. Did you mean json\.decoder"),
        ("collectoins.abc", r"no module, file or folder has the name collectoins\. Did you mean collections"),
        ("os.path", "os is a module, not a package: it has no path"),
        ("_imp", "is compiled .*no Python source"),
        ("zzzzzz", "Is it installed where deskcheck is?"),
    ],
)
def test_a_module_that_cannot_be_read_is_refused(name: str, message: str) -> None:
    """The error names what is close to it, or why it cannot be used."""
    with pytest.raises(InputError, match=message):
        programs(name)


def test_an_installed_distribution_is_named() -> None:
    """Its name, version and licence come from its own metadata."""
    found = list(programs("sortedcontainers.sorteddict"))  # comes with hypothesis
    version = importlib.metadata.version("sortedcontainers")
    assert found
    for program in found:
        assert program.source == f"sortedcontainers {version}: sortedcontainers/sorteddict.py"
        assert (program.licence, program.train_ok, program.date) == ("Apache 2.0", True, None)
        assert program.extra["distribution"] == "sortedcontainers"
        assert program.extra["version"] == version
        assert program.path is None


@pytest.mark.parametrize(
    ("fields", "licence", "train_ok"),
    [
        ({"License-Expression": "MIT"}, "MIT", True),
        ({"License-Expression": "Apache-2.0 OR BSD-3-Clause"}, "Apache-2.0 OR BSD-3-Clause", True),
        ({"License-Expression": "MIT AND (GPL-3.0-only OR ISC)"}, "MIT AND (GPL-3.0-only OR ISC)", False),
        ({"License-Expression": "MPL-2.0"}, "MPL-2.0", False),
        ({"License-Expression": "MIT", "License": "GPL"}, "MIT", True),
        ({"License": "MIT License"}, "MIT License", True),
        ({"License": "BSD 3-Clause License"}, "BSD 3-Clause License", True),
        ({"License": "3-clause BSD"}, "3-clause BSD", True),
        ({"License": "Apache License, Version 2.0"}, "Apache License, Version 2.0", True),
        ({"License": "PSF"}, "PSF", True),
        ({"License": "LGPLv3+"}, "LGPLv3+", False),
        ({"License": "BSD with a twist"}, "BSD with a twist", False),
        ({"License": "not MIT"}, "not MIT", False),
        ({"License": "Proprietary"}, "Proprietary", False),
        ({"Classifier": "License :: OSI Approved :: MIT License"}, "MIT License", True),
        ({"Classifier": "License :: OSI Approved :: ISC License (ISCL)"}, "ISC License (ISCL)", True),
        ({"Classifier": "License :: Other/Proprietary License"}, "Other/Proprietary License", False),
        (
            {
                "License": "Permission is hereby granted\nto",
                "Classifier": "License :: OSI Approved :: BSD License",
            },
            "BSD License",
            True,
        ),
        ({"License": "UNKNOWN"}, None, False),
        ({}, None, False),
    ],
)
def test_only_a_stated_permissive_licence_lets_train(
    fields: dict[str, str], licence: str | None, train_ok: bool
) -> None:
    """A licence that we do not know, or know to bind, keeps a program out of training."""
    message = Message()
    for name, value in fields.items():
        message[name] = value
    assert stated_licence(cast(importlib.metadata.PackageMetadata, message)) == (licence, train_ok)


def test_a_users_own_module_of_a_library_name_is_the_users(tmp_path: Path) -> None:
    """A file called like a library module does not get the library's licence."""
    file = tmp_path / "heapq.py"
    file.write_text('"""\n>>> 1\n1\n"""\n')
    (program,) = programs(f"doctests:{file}")
    assert (program.module, program.licence, program.train_ok) == ("heapq", None, False)
    assert program.extra["file"] == str(file)
