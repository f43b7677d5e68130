"""The forms in which a user names a source of programs, and the choice of its reader."""

import difflib
import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from deskcheck.extensions import Registry
from deskcheck.recording import InputError, Program
from deskcheck.sources.families.families import FAMILIES, families
from deskcheck.sources.families.families import PREFIX as FAMILY
from deskcheck.sources.generated import PREFIX as GENERATED
from deskcheck.sources.generated import generated
from deskcheck.sources.inputs.source import PREFIX as INPUTS
from deskcheck.sources.inputs.source import inputs
from deskcheck.sources.sets.doctests import doctests_in_file, doctests_in_folder, doctests_in_module
from deskcheck.sources.sets.files import archived, function_in_file, script
from deskcheck.sources.sets.functions import functions_in_rows
from deskcheck.sources.sets.mutations import PREFIX as MUTATIONS
from deskcheck.sources.sets.mutations import mutations
from deskcheck.sources.sets.published import PUBLISHED, published_set
from deskcheck.sources.text.archive import modules_in_archive
from deskcheck.sources.text.modules import is_module_name
from deskcheck.sources.text.rows import Refuse

_log = logging.getLogger(__name__)

SOURCES: Mapping[str, str] = {
    "FILE.py::FUNCTION": "one call, followed by its arguments: sort.py::bubble '([3, 1], reverse=True)'",
    "FILE.py": "a script, run from its first line to its last as `python FILE.py` runs it",
    "FILE.pyz": "the `__main__.py` of a zip archive, run as `python FILE.pyz` runs it",
    "doctests:FILE.py": "the doctests of a file",
    "FOLDER": "the doctests of every .py file in a folder; also doctests:FOLDER",
    "MODULE": "the doctests of an importable module: heapq, json.decoder; also doctests:MODULE",
    "FILE.jsonl": 'functions with inputs, one a row: {"code": ..., "entry": "f", "inputs": ["(3, 4)"]}',
    **dict(
        (f"{name}:PATH", f"the set {published.title}: your copy of it")
        if published.hub is None
        else (f"{name}[:PATH]", f"the set {published.title}: a file of it, or fetched once")
        for name, published in PUBLISHED.items()
    ),
    "pytest:PATH": "calls that the tests of a project make to the project's functions",
    "inputs[,OPTION=...]:FILE.py": "functions, with inputs that deskcheck finds: inputs:app.py::parse; all "
    "of a FOLDER, or of an importable MODULE or package: inputs:textwrap",
    "mutations[,OPTION=...]:SOURCE": "another source's programs, a mistake in each: mutations,each=5:mbpp",
    "generated:COUNT[,OPTION=...]": "small generated programs: generated:1000,difficulty=3 (of 10)",
    "family:NAME[,OPTION=...]": f"long executions: family:collatz,inputs=30; {', '.join(FAMILIES)}, or all",
}
"""Form of a source -> one line of help."""

_DOCTESTS = "doctests:"
TESTS = "pytest:"
"""Prefix of the sources that `deskcheck.recorder.suite` records."""
_MADE = ("doctests", "family", "generated", "inputs", "mutations", "notebooks", "pytest")
"""Words before a colon that do not name a set."""


Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Source:
    """A source of another package: ``NAME:REST``."""

    name: str
    about: str
    """One line about its programs."""
    read: Callable[[str, Note], Iterator[Program]]
    """REST -> programs. It raises InputError; `Note` takes sentences about what was left out."""


OTHERS: Registry[Source] = Registry("sources", Source, [])
"""Sources of other packages."""


def source(name: str, *, about: str) -> Callable[[Callable[[str, Note], Iterator[Program]]], Source]:
    """Register a function as the reader of a source, ``NAME:REST``.

        @source("cells", about="the cells of a text file")
        def cells(rest, note):
            for number, code in enumerate(Path(rest).read_text().split("# %%")):
                yield Program(id=f"cell-{number}", code=code)

    Raises InputError for a name that deskcheck uses itself.
    """
    if name in (*PUBLISHED, *_MADE, "history", "june"):
        raise InputError(f"sources: {name!r} is a source of deskcheck: choose another name.")
    return lambda read: OTHERS.register(Source(name, about, read))


def is_script(source: str) -> bool:
    """Whether a source is a file that Python runs: a script or a zip archive."""
    path = Path(source)
    return os.path.isfile(path) and (path.suffix == ".py" or modules_in_archive(path) is not None)


def programs(
    source: str,
    arguments: str | None = None,
    *,
    note: Note = _log.warning,
    propose: Callable[[str], str] | None = None,
    refuse: Refuse | None = None,
) -> Iterator[Program]:
    """The programs of a source, which is one of the forms in `SOURCES`.

    The name of a published set means the set. Another name means a file or folder, or else a module. Rows of
    a data file are checked when they are reached; everything else is checked before this returns.

    arguments: only for ``FILE.py::FUNCTION``. note: takes a sentence about what was left out. refuse: takes
    each row that cannot be used; without it the first such row is an error. propose: see `find_inputs`.

    Raises:
        InputError: the source cannot be used. The message says why, and what to write instead.
        MissingExtra: a set must be fetched and huggingface_hub is not installed.
    """

    def inner_programs(inner: str) -> Iterator[Program]:
        return programs(inner, arguments, note=note, refuse=refuse)

    if re.match(rf"{INPUTS}[:,]", source):
        is_set = PUBLISHED.__contains__
        return inputs(source, inner_programs, is_set=is_set, note=note, propose=propose)
    if re.match(rf"{MUTATIONS}[:,]", source):
        return mutations(source, inner_programs, note=note)
    if "::" in source and not source.startswith(TESTS):
        file, _, entry = source.rpartition("::")
        return iter([function_in_file(file, entry, arguments, note)])
    if arguments is not None:
        raise InputError(f"{source}: takes no arguments ({arguments}); only FILE.py::FUNCTION does.")
    return _named(source, note, refuse)


def _named(source: str, note: Note, refuse: Refuse | None) -> Iterator[Program]:
    """The programs of a source that takes neither arguments nor another source."""
    if source.startswith(TESTS):
        raise InputError(
            f"{source}: needs a command without other sources, because the tests run (`deskcheck record "
            f"{source}`)."
        )
    if source.startswith(_DOCTESTS):
        return _doctests(source.removeprefix(_DOCTESTS), note)
    if source.startswith(FAMILY):
        return families(source)
    if source.startswith(GENERATED):
        return generated(source)
    path = Path(source)
    if source in PUBLISHED:
        if os.path.exists(path):
            note(
                f"{source} is read as the published set; for the file or folder of that name write ./{source}"
            )
        return published_set(source, note=note, refuse=refuse)
    scheme, colon, argument = source.partition(":")
    if colon and scheme in PUBLISHED:
        return published_set(scheme, argument, note=note, refuse=refuse)
    if colon and scheme not in _MADE and scheme in OTHERS:
        return OTHERS[scheme].read(argument, note)
    if source and os.path.exists(path):  # not Path.exists, which raises for a name that is too long
        return _in_path(source, path, note, refuse)
    if colon and re.fullmatch(r"[\w+-]+", scheme):
        close = _close(scheme, [*PUBLISHED, *_MADE, *OTHERS])
        raise InputError(f"{source}: unknown source {scheme!r}.{close} Write one of\n{_forms()}")
    if _names_module(source):
        forms = [form.replace("[,OPTION=...]", "") for form in SOURCES if ":" in form]
        return iter(doctests_in_module(source, [*PUBLISHED, *forms, *_names_near(path)], note))
    _refuse_missing(source)
    raise InputError(f"{source!r} is not a source of programs. Write one of\n{_forms()}")


def _forms() -> str:
    lines = {**SOURCES, **{f"{name}:REST": registered.about for name, registered in OTHERS.items()}}
    return "\n".join(f"    {form:18} {help_}" for form, help_ in lines.items())


def _doctests(source: str, note: Note) -> Iterator[Program]:
    path = Path(source)
    if source and os.path.isdir(path):
        return doctests_in_folder(source, note)
    if source and os.path.exists(path):
        if path.suffix == ".py":
            return iter(doctests_in_file(source, note))
        raise InputError(f"{source}: is not a .py file, so it has no doctests that can be run.")
    if _names_module(source):
        return iter(doctests_in_module(source, _names_near(path), note))
    _refuse_missing(source)
    raise InputError(f"{_DOCTESTS}{source}: write doctests:FILE.py, doctests:FOLDER or doctests:MODULE.")


def _names_module(source: str) -> bool:
    return is_module_name(source) and Path(source).suffix not in (".py", ".jsonl", ".json", ".parquet")


def _refuse_missing(source: str) -> None:
    path = Path(source)
    if path.suffix or "/" in source:
        raise InputError(f"{source}: no such file or folder.{_close(source, _names_near(path))}")


def _in_path(source: str, path: Path, note: Note, refuse: Refuse | None) -> Iterator[Program]:
    if path.is_dir():
        return doctests_in_folder(source, note)
    if path.suffix == ".py":
        return iter([script(source, note)])
    if path.name.endswith((".jsonl", ".jsonl.gz")):
        return functions_in_rows(source, refuse)
    if path.is_file() and (modules := modules_in_archive(path)) is not None:
        return iter([archived(source, modules)])
    raise InputError(
        f"{source}: is neither Python (.py) nor functions with inputs (.jsonl, .jsonl.gz). For a file of a "
        f"published set, write the name of the set in front, such as cruxeval:{source}"
    )


def _names_near(path: Path) -> list[str]:
    """The entries of the path's folder, written as the user would write them."""
    folder = path.parent
    return [str(entry) for entry in folder.iterdir()] if os.path.isdir(folder) else []


def _close(text: str, candidates: list[str]) -> str:
    close = difflib.get_close_matches(text, sorted(candidates), n=3, cutoff=0.7)
    return f" Did you mean {' or '.join(close)}?" if close else ""
