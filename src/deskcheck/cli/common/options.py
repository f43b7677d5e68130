"""Options made from settings: a command takes dataclasses, and each `Setting` in them becomes an option.

    @with_options
    def record(sources: Sources, programs: Annotated[RecordSettings, Panel("Programs")]) -> None: ...

Settings of a command that have the same name share one option, which sets all of them. The command line
overrides pyproject.toml (`configuration`), which overrides the defaults of the settings. A parameter of type
``Callable[[], RecordSettings]`` makes the settings when it is called: for a command that uses one of two
whose bounds differ.
"""

import dataclasses
import functools
import inspect
import keyword
import types
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import typer

from deskcheck.errors import InputError
from deskcheck.settings import Group, Setting

COMMON = "Common"


@dataclass(frozen=True, slots=True)
class Panel:
    """Marks a parameter of a command as settings."""

    name: str | None
    """Heading in the help for options that only these settings have. Those of None are never refused."""
    those: str = ""
    """Purpose of the options, in the message that refuses them."""


_options_set: ContextVar[Mapping[str, list[Panel]]] = ContextVar(
    "_options_set", default=types.MappingProxyType({})
)
"""Flag -> panels of each option that was given on the command line."""
_values: ContextVar[Mapping[str, Any]] = ContextVar("_values", default=types.MappingProxyType({}))
"""Flag -> value of the options that were set, on the command line or in pyproject.toml."""


@dataclass(slots=True)
class _Option:
    flag: str
    setting: Setting
    kind: Any
    default: Any
    group: str | None = None
    owners: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Parameter of the command -> path of the field in its settings."""
    same: bool = True
    """Whether all owners have this default."""

    @property
    def name(self) -> str:
        name = self.flag.removeprefix("--").replace("-", "_")
        return f"{name}_" if keyword.iskeyword(name) else name


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command, with an option for each `Setting` of its parameters that have a `Panel`."""
    hints = get_type_hints(command, include_extras=True)
    panels: dict[str, Panel] = {}
    classes: dict[str, type[Any]] = {}
    for name, hint in hints.items():
        for mark in getattr(hint, "__metadata__", ()):
            if isinstance(mark, Panel):
                panels[name], classes[name] = mark, get_args(hint)[0]
    later = {name: get_args(kind)[1] for name, kind in classes.items() if get_origin(kind) is Callable}
    classes |= later
    options = _options(classes)

    @functools.wraps(command)
    def expanded(ctx: typer.Context, **values: Any) -> None:
        values_by_name = {option.name: values.pop(option.name) for option in options.values()}
        sources = {
            flag: ctx.get_parameter_source(option.name).name  # type: ignore[union-attr]
            for flag, option in options.items()
        }
        given_panels = {
            flag: [panels[owner] for owner in option.owners]
            for flag, option in options.items()
            if sources[flag] == "COMMANDLINE"
        }
        _options_set.set(given_panels)
        _values.set(
            {flag: values_by_name[options[flag].name] for flag in options if sources[flag] != "DEFAULT"}
        )
        for name, settings in classes.items():
            build = functools.partial(_built, settings, name, options, values_by_name)
            values[name] = build if name in later else build()
        command(**values)

    context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    signature = [context]
    parameters = [_parameter(option, panels) for option in _in_order(options, list(panels))]
    for p in inspect.signature(command).parameters.values():
        if p.name in classes:
            signature += parameters  # where the first of the settings stands
            parameters = []
        else:
            signature.append(p.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[p.name]))
    expanded.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined]
    expanded.__annotations__ = {p.name: p.annotation for p in signature}
    return expanded


def refuse_others(*panels: str) -> None:
    """Raise InputError for an option that was given on the command line and is in none of these panels."""
    for flag, owners in _options_set.get().items():
        if not {None, *panels} & {owner.name for owner in owners}:
            raise InputError(f"{flag}: is for {_purposes(owners)}. Leave it out.")


def _purposes(owners: list[Panel]) -> str:
    return " and ".join(owner.those for owner in owners)


SettingsT = TypeVar("SettingsT")


def settings_from_options(settings: type[SettingsT]) -> SettingsT:
    """Settings of a class that only the running command knows, from the options that they share with it.

    Raises InputError for any other option of a `Panel` with a name that was given on the command line.
    """
    options = _options({"": settings})
    for flag, owners in _options_set.get().items():
        if flag not in options and None not in {owner.name for owner in owners}:
            raise InputError(f"{flag}: is for {_purposes(owners)}. Leave it out.")
    values = _values.get()
    built: SettingsT = _built(
        settings, "", options, {o.name: values.get(flag) for flag, o in options.items()}
    )
    return built


def _options(classes: Mapping[str, type[Any]]) -> dict[str, _Option]:
    """Flag -> option."""
    by_flag: dict[str, _Option] = {}
    for owner, settings in classes.items():
        for path, kind, setting, default, group in _settings(settings()):
            flag = setting.flag or "--" + path[-1].replace("_", "-")
            option = by_flag.setdefault(flag, _Option(flag, setting, kind, default, group))
            option.owners[owner] = path
            option.same = option.same and option.default == default
    return by_flag


def _settings(
    settings: Any, group: str | None = None
) -> Iterator[tuple[tuple[str, ...], Any, Setting, Any, str | None]]:
    """Path, type, `Setting`, default and group of each field of a dataclass that has a `Setting`."""
    hints = get_type_hints(type(settings), include_extras=True)
    for setting_field in dataclasses.fields(settings):
        default = getattr(settings, setting_field.name)
        hint = hints[setting_field.name]
        marks = [mark for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, Setting)]
        if marks:
            yield (setting_field.name,), get_args(hint)[0], marks[-1], default, group
        elif dataclasses.is_dataclass(default):
            named = [mark.name for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, Group)]
            for path, kind, setting, value, of in _settings(default, named[-1] if named else group):
                yield (setting_field.name, *path), kind, setting, value, of


def _in_order(options: Mapping[str, _Option], owners: list[str]) -> list[_Option]:
    """Shared options first, then panel by panel; options in groups are last in their panel."""
    positions = {owner: number for number, owner in enumerate(owners, 1)}

    def order(option: _Option) -> tuple[int, bool]:
        shared = len(option.owners) > 1
        return 0 if shared else positions[next(iter(option.owners))], option.group is not None

    return sorted(options.values(), key=order)


def _parameter(option: _Option, panels: Mapping[str, Panel]) -> inspect.Parameter:
    setting, kind, default = option.setting, option.kind, option.default
    decided = option.flag
    inner, optional = _without_none(kind)
    keywords: dict[str, Any] = {
        "help": setting.text,
        "min": setting.min,
        "max": setting.max,
        "metavar": setting.metavar,
        "rich_help_panel": COMMON
        if len(option.owners) > 1
        else option.group or panels[next(iter(option.owners))].name,
    }
    if inner is bool and (default is True or setting.off):
        decided = f"{decided}/{setting.off or '--no-' + decided.removeprefix('--')}"
    element = Any if setting.parse is not None else None
    if get_origin(inner) is tuple:
        element_type = str if setting.commas else element or get_args(inner)[0]
        inner, default = list[element_type], None  # type: ignore[valid-type]
        optional = True
    elif get_origin(inner) is Mapping:
        inner, default, optional = list[Any], None, True
    elif element is not None:
        inner = element
    if setting.parse is not None:
        keywords["parser"] = _parser(setting.parse)
    names = [decided, *([setting.short] if setting.short else [])]
    if not option.same:
        default, optional = None, True
    annotation = inner | None if optional and inner is not Any else inner
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[annotation, typer.Option(*names, **keywords)],
    )


def _without_none(kind: Any) -> tuple[Any, bool]:
    if get_origin(kind) in (Union, types.UnionType):
        members = [member for member in get_args(kind) if member is not type(None)]
        return members[0], len(members) < len(get_args(kind))
    return kind, False


def _parser(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    @functools.wraps(parse)
    def parsed(text: str) -> Any:
        try:
            return parse(text)
        except ValueError as error:
            raise typer.BadParameter(f"{text!r}: {error}") from None

    return parsed


def _built(settings: type[Any], owner: str, options: Mapping[str, _Option], values: Mapping[str, Any]) -> Any:
    """The settings, with the given values instead of defaults."""
    built = settings()
    changes: dict[tuple[str, ...], Any] = {}
    for option in options.values():
        value = values[option.name]
        if owner not in option.owners or value is None:
            continue
        changes[option.owners[owner]] = _value(option, value)
    try:
        return _replaced(built, changes)
    except ValueError as error:
        raise InputError(str(error)) from None


def _value(option: _Option, value: Any) -> Any:
    """The value in the type of the field."""
    if not isinstance(value, list):
        return value
    if get_origin(_without_none(option.kind)[0]) is Mapping:
        return dict(value)
    return _parts(option, value) if option.setting.commas else tuple(value)


def _parts(option: _Option, texts: list[str]) -> tuple[Any, ...]:
    """The elements of comma-separated texts, in the type of the field's elements."""
    kind = get_args(_without_none(option.kind)[0])[0]
    try:
        return tuple(kind(part.strip()) for text in texts for part in text.split(",") if part.strip())
    except ValueError:
        written = ",".join(texts)
        raise InputError(
            f"{option.flag} {written!r}: give numbers separated by commas, such as 1,2,4."
        ) from None


def _replaced(settings: Any, changes: Mapping[tuple[str, ...], Any]) -> Any:
    direct = {path[0]: value for path, value in changes.items() if len(path) == 1}
    inner: dict[str, dict[tuple[str, ...], Any]] = {}
    for path, value in changes.items():
        if len(path) > 1:
            inner.setdefault(path[0], {})[path[1:]] = value
    for name, below in inner.items():
        direct[name] = _replaced(getattr(settings, name), below)
    return dataclasses.replace(settings, **direct)
