"""Models of Inspect's, by name, and the options of their completions."""

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from deskcheck.ask.inspect.settings import Generation
from deskcheck.ask.results.folder import files_digest
from deskcheck.extensions import missing_companion
from deskcheck.recording import InputError, MissingExtra

if TYPE_CHECKING:
    from inspect_ai.model import Model


def prepare(models: "Sequence[str | Model]", model_args: Mapping[str, Any] | None = None) -> "list[Model]":
    """The models of these names.

    Raises:
        InputError: no model, an unknown one, one twice, or a missing key.
        MissingExtra: Inspect AI or the client of a model is not installed.
    """
    if not models:
        raise InputError("no model is named. deskcheck/guess needs neither a key nor a download.")
    try:
        import inspect_ai.model
    except ImportError as error:
        raise MissingExtra("inspect-ai", "ask", "Asking models") from error
    import deskcheck.ask.inspect.registry  # noqa: F401 (registers ours where deskcheck is not installed)

    prepared = [_model(inspect_ai.model.get_model, model, dict(model_args or {})) for model in models]
    counts = Counter(map(str, prepared))
    if twice := next((name for name, count in counts.items() if count > 1), None):
        raise InputError(f"the model {twice} is named twice: name each once.")
    return prepared


def _model(get_model: "Callable[..., Model]", model: "str | Model", args: dict[str, Any]) -> "Model":
    if not isinstance(model, str):
        return model
    from inspect_ai._util.error import PrerequisiteError

    try:
        # Not one that this process had before: a checkpoint may have been trained on meanwhile.
        return get_model(model, **{"memoize": False, **args})
    except PrerequisiteError as error:
        message = plain_text(str(error.message))
        missing = re.search(r"pip install ([\w.-]+)", message)
        if missing and missing[1] == "openai":
            raise MissingExtra("openai", "ask", f"The model {model}") from error
        raise InputError(f"model {model}: {message}") from error
    except ValueError as error:
        if companion := missing_companion(model.partition("/")[0], f"The model {model}"):
            raise companion from error
        raise InputError(
            f"model {model}: {error} Models are named PROVIDER/MODEL, as openai/gpt-4o, hf/NAME or "
            "deskcheck/guess; https://inspect.aisi.org.uk/providers.html lists the providers."
        ) from error
    except ImportError as error:
        raise InputError(
            f"model {model}: the package {error.name} is not installed. "
            f"Install it with: pip install {error.name}"
        ) from error


def plain_text(message: str) -> str:
    """An error message of Inspect's on one line, without its markup for the terminal."""
    text = re.sub(r"\[/?[a-z]+\]", "", message).removeprefix("ERROR:").strip()
    return re.sub(r"\s+", " ", text)


def options_of(generation: Generation) -> dict[str, Any]:
    """The arguments of `inspect_ai.eval` for these settings. Inspect learns the prices."""
    options = {name: value for name, value in asdict(generation).items() if value is not None}
    if not generation.cache:
        del options["cache"]
    del options["completion"]
    options["attempt_timeout"] = generation.timeout  # Inspect's timeout alone ends no request
    if stop := options.pop("stop"):
        options["stop_seqs"] = [*stop]
    for model, (read, written) in options.pop("prices").items():
        _set_price(model, read, written)
    return options


def _set_price(model: str, read: float, written: float) -> None:
    from inspect_ai.model import ModelCost, ModelInfo, get_model_info, set_model_info

    cost = ModelCost(input=read, output=written, input_cache_write=read, input_cache_read=read)
    info = get_model_info(model) or ModelInfo()
    set_model_info(model, info.model_copy(update={"cost": cost}))


# -- the card of a run -----------------------------------------------------------------------------------

_SECRET = re.compile(r"(^|_)(api_?key|key|token|secret|password|credentials?)$", re.IGNORECASE)
"""Names of arguments whose values are not written to files."""
_LOCAL = frozenset({"hf", "sglang", "vllm"})
"""Providers for which a name that is a path is a folder of weights."""


def facts_of(
    models: "Sequence[Model]", model_args: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The entries of a run's card about its models; and settings that decide their answers but are not
    written."""
    servers = {str(model): url for model in models if (url := model.api.base_url)}
    arguments = {name: _without_secret(name, value) for name, value in model_args.items()}
    facts = {
        "model": [str(model) for model in models],
        "model_args": arguments,
        "model_files": _model_files(models, model_args),
        "base_url": {name: _plain_url(url) for name, url in servers.items()},
    }
    changed = {name: value for name, value in model_args.items() if arguments[name] != value}
    return facts, {**servers, **changed}


def _without_secret(name: str, value: Any) -> Any:
    if _SECRET.search(name):
        return "(not kept)"
    if isinstance(value, str) and "://" in value:
        return _plain_url(value)
    return json.loads(json.dumps(value, default=str))


def _plain_url(url: str) -> str:
    """An address without a user's name, password and query."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment=""))


def _model_files(models: "Sequence[Model]", model_args: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Path and digest of the files of each model and argument: a checkpoint that was trained further is
    another model of the same name."""
    paths = {name: Path(value) for name, value in model_args.items() if isinstance(value, (str, Path))}
    for model in models:
        provider, _, name = str(model).partition("/")
        folder = getattr(model.api, "folder", None)
        if folder is not None or provider in _LOCAL:
            paths[str(model)] = Path(folder or name)
    return {
        name: {"path": os.path.abspath(path), "digest": files_digest(path)}
        for name, path in paths.items()
        if not _SECRET.search(name) and path.parts and _exists(path)
    }


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # an argument that can be no path
        return False
