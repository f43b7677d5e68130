"""Settings that decide which questions are asked, and how much of notebooks is shown."""

from dataclasses import dataclass
from typing import Annotated

from deskcheck.errors import InputError
from deskcheck.notebook.settings import PAST_VIEWS, VIEWS
from deskcheck.settings import Setting


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """The choice of samples."""

    per_recording: Annotated[int | None, Setting("Samples of each kind from one recording.", min=1)] = None
    limit: Annotated[
        int | None,
        Setting("Samples of each kind in total, drawn from folders and programs in turn.", min=1),
    ] = None
    seed: Annotated[int, Setting("Seed of the draw of samples.")] = 0
    shots: Annotated[
        int | None,
        Setting(
            "Worked examples in each prompt, drawn from samples about other programs. By default one that is "
            "built in.",
            min=0,
        ),
    ] = None
    prompt: Annotated[
        tuple[str, ...],
        Setting(
            "FILE, or KIND=FILE: prompts in your own words. The text has {{code}}, {{call}} or {{question}} "
            "where these parts of a question go. May be given again."
        ),
    ] = ()
    doubtful: Annotated[
        bool,
        Setting(
            "Also ask about recordings that are not repeatable, or changed by the tracer, or by a refusal of "
            "the sandbox."
        ),
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NotebookOptions:
    """Settings of questions about notebooks.

    actions: the minimum number of actions before a target: executions, edits, insertions, deletions, moves
    and restarts by the user. quantile: targets longer than this quantile of lengths in characters are left
    out. Tokens are estimated (`notebook.state.views.estimate_tokens`).
    """

    state: Annotated[
        tuple[str, ...],
        Setting(
            "Runtime information in the prompt: none; variables of the kernel: names, used, changed, full; "
            "of each earlier cell: time, memory, history (the variables that it changed). If none is among "
            "them, the effect of the others is reported.",
            commas=True,
        ),
    ] = ("none",)
    history_tokens: Annotated[int, Setting("Estimated tokens for earlier cells.", min=0)] = 4000
    state_tokens: Annotated[int, Setting("Estimated tokens for the variables.", min=0)] = 2000
    actions: int = 5
    quantile: float = 0.99
    unchecked: Annotated[bool, Setting("Also ask for outputs that were not checked for repeatability.")] = (
        False
    )

    def __post_init__(self) -> None:
        for name in self.state:
            if name not in (*VIEWS, *PAST_VIEWS):
                known = ", ".join((*VIEWS, *PAST_VIEWS))
                raise InputError(f"unknown state {name!r}. The states are {known}.")
        if not self.state or len(set(self.state)) != len(self.state):
            raise InputError(
                f"state={','.join(self.state)!r} must name views, each once: "
                f"{', '.join((*VIEWS, *PAST_VIEWS))}."
            )
        if not 0 < self.quantile <= 1:
            raise InputError(f"quantile={self.quantile} must be above 0 and not above 1.")
        if min(self.history_tokens, self.state_tokens, self.actions) < 0:
            raise InputError("history_tokens, state_tokens and actions must be at least 0.")
