"""A trace as text, and back. `NOTATIONS` has the notations; notation.md shows one program in each.

This package imports only `recording`. Parsing takes any text of a model, never raises, and reports the places
that it could not read.
"""

from deskcheck.notation.claims import Claim, What, claims, untrue
from deskcheck.notation.divergence import (
    Divergence,
    JudgedStep,
    RunAgreement,
    Stop,
    compare_runs,
    compare_step,
)
from deskcheck.notation.forms.cwm import cwm_kept, cwm_prompt, cwm_text, parse_cwm
from deskcheck.notation.forms.direct import ending
from deskcheck.notation.forms.dynamic import RunningTexts, state_text, transitions
from deskcheck.notation.forms.inline import inline_claims
from deskcheck.notation.forms.notations import NOTATIONS, Notation
from deskcheck.notation.lines import Parsed, Unreadable
from deskcheck.notation.state import Frame, Moment, moments

__all__ = [
    "NOTATIONS",
    "Claim",
    "Divergence",
    "Frame",
    "JudgedStep",
    "Moment",
    "Notation",
    "Parsed",
    "RunAgreement",
    "RunningTexts",
    "Stop",
    "Unreadable",
    "What",
    "claims",
    "compare_runs",
    "compare_step",
    "cwm_kept",
    "cwm_prompt",
    "cwm_text",
    "ending",
    "inline_claims",
    "moments",
    "parse_cwm",
    "state_text",
    "transitions",
    "untrue",
]
