"""How a run ended."""

from enum import StrEnum


class Outcome(StrEnum):
    """How a run ended, decided by whoever watched the process, never guessed from text.

    Three endings stay apart: what the program did (the first five), what the limits stopped, and
    `HARNESS_ERROR`, our own failure, which says nothing about the program.
    """

    RETURNED = "returned"
    """The call returned, or the module ran to its end."""
    RAISED = "raised"
    """An exception left the program."""
    WRONG = "wrong"
    """The program ended by itself, and a check out of its reach found its answers wrong."""
    NOT_COMPARED = "not_compared"
    """The program ended by itself, and what it gave could not be handed to a check out of its reach."""
    EXITED = "exited"
    """The program ended its own process: `sys.exit`, `os._exit`, or an uncaught `SystemExit`."""
    TIMED_OUT = "timed_out"
    """The limit on CPU or wall time stopped it."""
    OUT_OF_MEMORY = "out_of_memory"
    """The limit on memory stopped it: a `MemoryError` left the program, or the kernel killed it."""
    OUTPUT_LIMIT = "output_limit"
    """It wrote more than the limit on output allows."""
    KILLED = "killed"
    """A signal ended it that neither it nor a limit is known to have caused: a crash, a kill."""
    HARNESS_ERROR = "harness_error"
    """Our machinery failed. Never a finding about the program."""


def signal_name(number: int) -> str:
    """Of the signal that ended a process."""
    import signal  # not in the process that a program runs in

    if number == signal.SIGSYS:
        return "SIGSYS, as for a system call of another architecture"
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"
