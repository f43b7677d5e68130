"""The data of runs: programs, values, events, traces, recordings, and their files.

The package imports nothing else of deskcheck. The tracer loads it into the process that it watches, so only
`schema`, `spool`, `writer` and `reader` need pyarrow; the rest needs only the standard library.
"""

from deskcheck.errors import (
    DeskcheckError,
    InputError,
    MissingExtra,
    RecordingError,
    SandboxError,
)
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Environment, Mode, Program
from deskcheck.recording.recording import Recording, RunResult
from deskcheck.recording.trace import Event, Kind, Row, State, Trace
from deskcheck.recording.value import Value, decode, render

__all__ = [
    "DeskcheckError",
    "Environment",
    "Event",
    "InputError",
    "Kind",
    "MissingExtra",
    "Mode",
    "Outcome",
    "Program",
    "Recording",
    "RecordingError",
    "Row",
    "RunResult",
    "SandboxError",
    "State",
    "Trace",
    "Value",
    "decode",
    "render",
]
