"""How a run ended."""

from enum import StrEnum


class Outcome(StrEnum):
    """How a run ended, decided by the process that watched it, never guessed from text.

    There are three groups: endings by the program itself (the first five), endings by a limit or a signal,
    and `HARNESS_ERROR`, a failure of deskcheck, which says nothing about the program.
    """

    RETURNED = "returned"
    """The call returned, or the module ran to its end."""
    RAISED = "raised"
    """An exception left the program."""
    WRONG = "wrong"
    """The program ended by itself, and a check that it cannot influence found its answers wrong."""
    NOT_COMPARED = "not_compared"
    """The program ended by itself, but its answers could not be passed to such a check."""
    EXITED = "exited"
    """The program ended its own process: `sys.exit`, `os._exit`, or an uncaught `SystemExit`."""
    TIMED_OUT = "timed_out"
    """The limit on CPU or wall time stopped it."""
    OUT_OF_MEMORY = "out_of_memory"
    """The limit on memory stopped it: a `MemoryError` left the program, or the kernel killed it."""
    OUTPUT_LIMIT = "output_limit"
    """It wrote more than the limit on output allows."""
    KILLED = "killed"
    """A signal ended it, such as a crash or a kill, and no limit is known to have caused it."""
    HARNESS_ERROR = "harness_error"
    """Deskcheck failed. This says nothing about the program."""


def signal_name(number: int) -> str:
    """Name of the signal that ended a process."""
    import signal  # not in the process that a program runs in

    if number == signal.SIGSYS:
        return "SIGSYS, as for a system call of another architecture"
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"
