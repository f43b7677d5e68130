"""Functions with inputs, from a file of JSON lines (``functions.jsonl``). A row is a function:

    {"code": "def f(a, b=1): ...", "entry": "f", "inputs": ["(3, 4)", "3, b=4"]}

A row may also have "id", "source", "licence", "train_ok" and "date", as in `Program`. Other fields are kept
in the program's `extra`. Each input is the text of an argument list, with or without its parentheses, and
becomes one program.
"""

from collections.abc import Iterator
from pathlib import Path

from deskcheck.recording import InputError, Mode, Program
from deskcheck.sources.sets import published
from deskcheck.sources.text.arguments import argument_list
from deskcheck.sources.text.python import check_entry, modified, parse
from deskcheck.sources.text.rows import Refuse, Row, check_fields, check_type, from_rows

_REQUIRED = {"code": str, "entry": str, "inputs": list}
_OPTIONAL = {"source": str, "licence": str, "train_ok": bool, "date": str}
_HOLDS = 'A row is {"code": "def f(a, b): ...", "entry": "f", "inputs": ["(3, 4)"]}.'


def functions_in_rows(file: str, refuse: Refuse | None = None) -> Iterator[Program]:
    """One program per input, with the id ``<row's id, or the file's stem>_<line>_<k>``; k counts from 0.

    A row is checked when it is reached, after the programs of the rows before it were yielded. refuse: see
    `rows.from_rows`.

    Raises:
        InputError: a row cannot be used, and there is no `refuse`. The message names its line.
    """
    path = Path(file)
    stem = path.name.partition(".")[0]
    date = modified(path)
    return from_rows(
        path, file, _HOLDS, lambda row, location: _programs(row, location, stem, file, date), refuse
    )


def _programs(row: Row, location: str, stem: str, file: str, date: str | None) -> Iterator[Program]:
    check_fields(row, _REQUIRED, location, _HOLDS + _other_format(row, file))
    for name, kind in _OPTIONAL.items():
        if row.get(name) is not None:
            check_type(row[name], kind, name, location)
    identifier = stem if row.get("id") is None else row["id"]
    if not isinstance(identifier, (str, int)):
        raise InputError(f"{location}: 'id' is neither a string nor a whole number: {identifier!r}.")
    code, entry = row["code"], row["entry"]
    check_entry(parse(code, f"{location}: code"), entry, f"{location}: code")
    for k, text in enumerate(row["inputs"]):
        check_type(text, str, f"inputs[{k}]", location)
    inputs = [argument_list(text, f"{location}: inputs[{k}]") for k, text in enumerate(row["inputs"])]
    if not inputs:
        raise InputError(f"{location}: 'inputs' is empty: nothing to call {entry} with. {_HOLDS}")
    number = location.rpartition(":")[2].removeprefix(" row ")
    for k, arguments in enumerate(inputs):
        yield Program(
            id=f"{identifier}_{number}_{k}",
            code=code,
            mode=Mode.CALL,
            entry=entry,
            arguments=arguments,
            source=row.get("source") or file,
            licence=row.get("licence"),
            train_ok=row.get("train_ok") or False,
            date=row.get("date") or date,
            extra={key: value for key, value in row.items() if key not in {*_REQUIRED, *_OPTIONAL, "id"}},
        )


def _other_format(row: Row, file: str) -> str:
    for name, published_set in published.PUBLISHED.items():
        if published_set.required.keys() <= row.keys():
            return f" This row is one of {published_set.title}: write {name}:{file}"
    return ""
