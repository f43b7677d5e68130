"""Settings of libraries as data. Cells change them in addition to variables and files. Includes the states of
random generators.

Read from loaded modules. No code of the user runs: a library's function that the notebook has replaced is not
called. Not seen: settings in C code, replaced functions of a library, settings of threads.
"""

import hashlib
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from deskcheck.notebook.state.digests import codes, summary

Reader = Callable[[Any], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class LibrarySetting:
    """A setting of a library.

    value: its text, or a digest if that is long. None: the setting is gone.
    new: whether it was missing before the cell, for example because the cell imports the library first.
    """

    value: str | None
    incidental: bool = False
    new: bool = False


_readers: dict[tuple[str, bool], list[Reader]] = {}
_MOST = 2000
"""Settings of one reader."""
_SHOWN = 200
"""Characters of a value; a longer one becomes a digest."""
_HASHED = 10_000
"""Characters of a text that are hashed, with its length."""


def register_settings(module: str, read: Reader, *, incidental: bool = False) -> None:
    """Compare the settings of a library when cells are tried out (`trial.Trials`).

    read: gets the module if it is loaded, and returns settings by name: atoms, containers and objects of
    such. It runs after every tried cell, so its time is yours. Exceptions are compared as values. incidental:
    only counts if the true cell changes it, for what any import may bring and for random generators.
    """
    _readers.setdefault((module, incidental), []).append(read)


def read_settings(names: Mapping[str, Any]) -> dict[str, LibrarySetting]:
    """All settings of the loaded libraries, by library and name. names: the user's namespace."""
    settings: dict[str, LibrarySetting] = {}
    for (name, incidental), readers in _readers.items():
        module = sys.modules.get(name)
        if not isinstance(module, types.ModuleType):
            continue
        for read in readers:
            try:
                values = dict(read(module))
            except Exception as error:  # noqa: BLE001  # of a library that the notebook has changed, or of the user's reader
                values = {read.__name__: f"{type(error).__name__}: {error}"}
            for setting, value in [*values.items()][:_MOST]:
                settings[f"{name}: {setting}"] = LibrarySetting(_text(value, names), incidental)
    return settings


def changed(
    before: Mapping[str, LibrarySetting], after: Mapping[str, LibrarySetting]
) -> dict[str, LibrarySetting]:
    """Settings that are different, new, or gone."""
    new_values = {
        name: LibrarySetting(now.value, now.incidental, name not in before)
        for name, now in after.items()
        if name not in before or before[name].value != now.value
    }
    lost = {name: LibrarySetting(None, was.incidental) for name, was in before.items() if name not in after}
    return new_values | lost


_ATOMS = (bool, int, float, complex, str, type(None))


def _text(value: Any, names: Mapping[str, Any]) -> str:
    kind = type(value)
    if kind is str and len(value) > _HASHED:
        value = f"{value[:_HASHED]} and so on, {len(value)} characters"
    if kind in _ATOMS or (kind in (list, tuple) and all(type(item) in _ATOMS for item in value)):
        text = repr(value)
        if len(text) <= _SHOWN:
            return text
    else:
        text = f"{summary(value)} {codes(value, names)}"
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
    return f"{kind.__name__} {digest}"


# -- what is read ----------------------------------------------------------------------------------


class _ReplacedError(Exception):
    """The notebook has replaced a function of a library."""


def _librarys(module: Any, name: str) -> Any:
    """A function of a library. Raises _ReplacedError: the notebook has replaced it."""
    function = vars(module)[name]
    if getattr(function, "__module__", None) == "__main__":
        raise _ReplacedError(name)
    return function


def _matplotlib(module: Any) -> dict[str, Any]:
    values = dict(dict.items(module.rcParams))
    # The backend is chosen when the first figure is made, and that of notebooks then turns `interactive` on.
    for name in ("backend", "backend_fallback"):
        values.pop(name, None)
    if "matplotlib_inline.backend_inline" not in sys.modules:
        values["interactive"] = True
    return {name: value.by_key() if hasattr(value, "by_key") else value for name, value in values.items()}


def _inline(module: Any) -> dict[str, Any]:
    backend = module.InlineBackend._instance
    if backend is None:
        return {}
    return {
        "figure_formats": sorted(backend.figure_formats),
        **{name: getattr(backend, name) for name in ("close_figures", "print_figure_kwargs", "rc")},
    }


def _numpy(module: Any) -> dict[str, Any]:
    errors = {f"errors, {kind}": how for kind, how in _librarys(module, "geterr")().items()}
    return {**_librarys(module, "get_printoptions")(), **errors}


def _pandas(module: Any) -> dict[str, Any]:
    def flat(options: Mapping[str, Any], above: str) -> Iterator[tuple[str, Any]]:
        for name, value in options.items():
            if type(value) is dict:
                yield from flat(value, f"{above}{name}.")
            else:
                yield f"{above}{name}", value

    return dict(flat(object.__getattribute__(module.options, "d"), ""))


def _shell(module: Any) -> dict[str, Any]:
    shell = module.InteractiveShell._instance
    plain = shell.display_formatter.formatters["text/plain"]
    return {
        "ast_node_interactivity": shell.ast_node_interactivity,
        **{name: getattr(plain, name) for name in ("pprint", "float_precision", "max_width", "newline")},
    }


def _printers(module: Any) -> dict[str, Any]:
    formatters = module.InteractiveShell._instance.display_formatter.formatters
    return {
        f"{mime}, {kind.__module__}.{kind.__qualname__}": function
        for mime, formatter in formatters.items()
        for kind, function in formatter.type_printers.items()
        if kind.__module__ != "matplotlib.figure"  # as the backend's formats say, from the first figure on
    }


def _is_general(entry: tuple[Any, ...]) -> bool:
    _, message, category, module, line = entry
    return message is None and module is None and line == 0 and category.__module__ == "builtins"


def _warnings(module: Any) -> dict[str, Any]:
    functions = {name: vars(module)[name] for name in ("warn", "showwarning", "formatwarning")}
    general = [f"{entry[0]} {entry[2].__name__}" for entry in module.filters if _is_general(entry)]
    return {"filters": general, **functions}


def _special_warnings(module: Any) -> dict[str, Any]:
    """Filters for one library or message: imports set them."""
    filters: dict[str, Any] = {}
    for action, message, category, where, line in module.filters:
        if not _is_general((action, message, category, where, line)):
            patterns = [str(getattr(part, "pattern", part)) for part in (message, where)]
            filters.setdefault(f"filter {patterns[0]} {category.__name__} {patterns[1]} {line}", action)
    return filters


def _logging(module: Any) -> dict[str, Any]:
    root = module.root
    handlers = [f"{type(handler).__name__} {handler.level}" for handler in root.handlers]
    return {"level": root.level, "disabled below": root.manager.disable, "handlers": handlers}


def _loggers(module: Any) -> dict[str, Any]:
    every = module.root.manager.loggerDict
    return {name: logger.level for name, logger in every.items() if getattr(logger, "level", 0)}


def _decimal(module: Any) -> dict[str, Any]:
    context = _librarys(module, "getcontext")()
    traps = sorted(signal.__name__ for signal, on in context.traps.items() if on)
    plain = {name: getattr(context, name) for name in ("prec", "rounding", "Emin", "Emax", "capitals")}
    return {**plain, "traps": traps}


register_settings("matplotlib", _matplotlib)
register_settings("matplotlib_inline.config", _inline)
register_settings("numpy", _numpy)
register_settings("pandas", _pandas)
register_settings("sklearn", lambda sklearn: _librarys(sklearn, "get_config")())
register_settings("IPython.core.interactiveshell", _shell)
register_settings("IPython.core.interactiveshell", _printers, incidental=True)
register_settings("random", lambda random: {"position": random._inst}, incidental=True)
register_settings("numpy.random", lambda numpy: {"position": numpy.mtrand._rand}, incidental=True)
register_settings("warnings", _warnings)
register_settings("warnings", _special_warnings, incidental=True)
register_settings("logging", _logging)
register_settings("logging", _loggers, incidental=True)
register_settings("decimal", _decimal)
register_settings("locale", lambda locale: {"locale": _librarys(locale, "setlocale")(locale.LC_ALL)})
register_settings(
    "sys", lambda sys: {"path": sys.path, "recursion limit": _librarys(sys, "getrecursionlimit")()}
)
register_settings("os", lambda os: {"current folder": _librarys(os, "getcwd")()})
register_settings("os", lambda os: dict(os.environ), incidental=True)
