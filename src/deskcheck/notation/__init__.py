"""A trace as text, and back. `NOTATIONS` names the ways; notation.md shows one program in each.

Imports `recording` alone. Rendering reads a recording; parsing reads whatever a model wrote: it never raises,
and says what it could not read and where.
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
