"""Settings of `ask` and of `offline score`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from deskcheck.ask.inspect.settings import STEP_BUDGET, Generation
from deskcheck.ask.questions.settings import NotebookOptions, Sampling
from deskcheck.ask.samples.steps import StepOptions
from deskcheck.files import NotJSON, read_json
from deskcheck.sandbox.confinement import Confinement
from deskcheck.settings import Group, Setting


def named(text: str) -> tuple[str, Any]:
    """Name and value of ``NAME=VALUE``; a value that is JSON is read as such. Raises ValueError."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ValueError("give NAME=VALUE.")
    try:
        return name, read_json(value)
    except NotJSON:
        return name, value


@dataclass(frozen=True, slots=True, kw_only=True)
class AskSettings:
    """The settings of a run of `ask`."""

    methods: Annotated[
        tuple[str, ...],
        Setting(
            "How the model answers (`deskcheck list methods`), with options as NAME:OPTION=VALUE. Several "
            "methods are asked the same samples and compared with the first.",
            flag="--method",
            commas=True,
        ),
    ] = ("direct",)
    explain: Annotated[
        bool, Setting("Explain the notation in prompts for runs, or use the prompts of lessons.")
    ] = True
    max_steps: Annotated[
        int, Setting("Methods that ask state by state: maximum number of states of a run.", min=1)
    ] = STEP_BUDGET
    run_cells: Annotated[
        bool, Setting("Notebooks: also score next cells by running them, in forks of the state.")
    ] = False
    model_args: Annotated[
        Mapping[str, Any],
        Setting(
            "An argument of the models' provider, as in Inspect.",
            flag="--model-arg",
            short="-M",
            metavar="NAME=VALUE",
            parse=named,
        ),
    ] = field(default_factory=dict)
    sampling: Annotated[Sampling, Group("Samples")] = field(default_factory=Sampling)
    generation: Annotated[Generation, Group("Completions")] = field(default_factory=Generation)
    steps: Annotated[StepOptions, Group("Steps")] = field(default_factory=StepOptions)
    notebooks: Annotated[NotebookOptions, Group("Notebooks")] = field(default_factory=NotebookOptions)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSettings:
    """The settings for scoring answers that models gave elsewhere."""

    samples: Annotated[
        bool, Setting("If a model gave several answers to a question, their mean is its score.")
    ] = False
    """Without it, several answers of a model to one question are refused."""
    sandbox: Annotated[Confinement, Setting("Confinement of answers that are run.")] = Confinement.STRICT
