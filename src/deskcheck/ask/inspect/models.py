"""Models as Inspect has them, by name; and how completions are asked for."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from deskcheck.ask.inspect.settings import Generation
from deskcheck.ask.methods.solvers import named
from deskcheck.extensions import missing_companion
from deskcheck.recording import InputError, MissingExtra

if TYPE_CHECKING:
    from inspect_ai.model import Model
    from inspect_ai.solver import Solver


def prepare(models: "Sequence[str | Model]", model_args: Mapping[str, Any] | None = None) -> "list[Model]":
    """The models as Inspect has them: a wrong name, a missing key is known before work is done."""
    if not models:
        raise InputError("no model is named. deskcheck/guess needs neither a key nor a download.")
    try:
        import inspect_ai.model
    except ImportError as error:
        raise MissingExtra("inspect-ai", "ask", "Asking models") from error
    import deskcheck.ask.inspect.registry  # noqa: F401 (registers ours where deskcheck is not installed)

    found = [_model(inspect_ai.model.get_model, model, dict(model_args or {})) for model in models]
    named = Counter(str(model) for model in found)
    if twice := next((name for name, count in named.items() if count > 1), None):
        raise InputError(f"the model {twice} is named twice: name each once.")
    return found


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


def solver_of(method: str, *, explain: bool, max_steps: int) -> "Solver":
    """The solver of a method, ``NAME`` or with its options (`named`), as it is asked for."""
    from deskcheck.ask.inspect import scaffolds, solvers

    known, given = named(method)
    if known.runs:
        return scaffolds.SOLVERS[known.name](**given)
    match known.name:
        case "chain_of_thought":
            return solvers.chain_of_thought()
        case "scratchpad":
            return solvers.scratchpad(explain=explain)
        case "compact":
            return solvers.compact(explain=explain)
        case "dynamic_scratchpad":
            return solvers.dynamic_scratchpad(explain=explain, max_steps=max_steps)
    return solvers.direct() if known.make is None else known.make()


def options_of(generation: Generation) -> dict[str, Any]:
    """As arguments of Inspect's; it is told the prices."""
    given = {name: value for name, value in asdict(generation).items() if value is not None}
    if not generation.cache:
        del given["cache"]
    del given["completion"]
    given["attempt_timeout"] = generation.timeout  # Inspect's timeout alone ends no request
    if stop := given.pop("stop"):
        given["stop_seqs"] = [*stop]
    for model, (read, written) in given.pop("prices").items():
        _set_price(model, read, written)
    return given


def _set_price(model: str, read: float, written: float) -> None:
    from inspect_ai.model import ModelCost, ModelInfo, get_model_info, set_model_info

    cost = ModelCost(input=read, output=written, input_cache_write=read, input_cache_read=read)
    known = get_model_info(model) or ModelInfo()
    set_model_info(model, known.model_copy(update={"cost": cost}))
