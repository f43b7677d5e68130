"""Defaults for options from ``[tool.deskcheck]`` in pyproject.toml.

    [tool.deskcheck.record]
    workers = 8
    max-events = 100_000

    [tool.deskcheck.notebooks.check]
    cell-s = 30

A table has the name of a command, a key the name of an option. The command line overrides the file. The file
is taken from the current folder, or from the nearest folder above whose file has such a table.
"""

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from deskcheck.errors import InputError
from deskcheck.files import read_text

NAME = "pyproject.toml"
SAID_ALONE = frozenset(
    f"--{name}"
    for name in (
        *("sandbox", "kernel", "env", "python", "environment", "ray-address"),
        *("model", "inputs-by", "model-arg"),
    )
)
"""Options that a file cannot set, because the user may not trust the author of the folder.

They decide how programs are confined, what they see of the user's environment, what is started, and which
provider is paid.
"""


def configuration(commands: Any, context: Any, folder: Path | None = None) -> dict[str, Any]:
    """The defaults for `context.default_map`, by command and name of parameter.

    commands: the group of all commands. Raises InputError for a file that cannot be read, and for tables and
    keys that do not belong to a command.
    """
    for directory in (folder or Path.cwd(), *(folder or Path.cwd()).parents):
        file = directory / NAME
        try:
            tables = tomllib.loads(read_text(file)).get("tool", {}).get("deskcheck")
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue
        except (OSError, ValueError) as error:
            raise InputError(f"{file}: cannot be read: {error}") from None
        if tables is not None:
            return _of_group(commands, context, tables, file, "tool.deskcheck")
    return {}


def _of_group(group: Any, context: Any, table: Any, file: Path, name: str) -> dict[str, Any]:
    if not isinstance(table, Mapping):
        raise InputError(f"{file}: {name} must be a table of commands, such as [{name}.record].")
    defaults: dict[str, Any] = {}
    for key, value in table.items():
        command = group.get_command(context, key)
        if command is None:
            raise _unknown(file, f"[{name}.{key}]", "command", key, group.list_commands(context))
        inside = f"{name}.{key}"
        if hasattr(command, "list_commands"):
            defaults[key] = _of_group(command, context, value, file, inside)
        else:
            defaults[key] = _of_command(command, context, value, file, inside)
    return defaults


def _of_command(command: Any, context: Any, table: Any, file: Path, name: str) -> dict[str, Any]:
    if not isinstance(table, Mapping):
        raise InputError(f"{file}: {name} must be a table of options, such as [{name}].")
    options = {
        opt: parameter
        for parameter in command.params
        for opt in parameter.opts
        if parameter.param_type_name == "option" and opt.startswith("--")
    }
    defaults: dict[str, Any] = {}
    for key, value in table.items():
        flag = "--" + key.replace("_", "-")
        if flag in SAID_ALONE:
            raise InputError(
                f"{file}: [{name}] {key}: can only be given on the command line. Otherwise the folder of a "
                "project could decide how its programs are confined, what is started or which model is paid."
            )
        if flag not in options:
            allowed = [parameter.removeprefix("--") for parameter in options if parameter not in SAID_ALONE]
            raise _unknown(file, f"[{name}] {key}", "option", key, allowed)
        try:
            options[flag].process_value(context, value)
        except typer.BadParameter as error:
            raise InputError(f"{file}: [{name}] {key} = {value!r}: {error.message}") from None
        defaults[options[flag].name] = value
    return defaults


def _unknown(file: Path, where: str, what: str, name: str, names: list[str]) -> InputError:
    close = difflib.get_close_matches(name.replace("_", "-"), names, n=3)
    hint = f" Did you mean {' or '.join(close)}?" if close else f" Choose from {', '.join(sorted(names))}."
    return InputError(f"{file}: {where}: unknown {what} {name!r}.{hint}")
