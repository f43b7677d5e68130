"""The threads of a recording, by number."""

from deskcheck.errors import InputError
from deskcheck.recording.recording import Recording
from deskcheck.recording.trace import Trace


def trace_of(recording: Recording, thread: int) -> Trace:
    """The trace of a thread. Raises InputError if the recording does not have it."""
    count = len(recording.traces)
    if not 0 <= thread < count:
        raise InputError(f"--thread {thread}: {recording.id} has {count} threads, counted from 0.")
    return recording.traces[thread]
