"""The message of the exception that left a run, as Python prints it.

The tracer never runs the program's own ``__str__``. The interpreter does, when it reports the exception on
standard error after the run; `printed_message` reads it there.

Not covered: reports of a `sys.excepthook` of the program's own, and exceptions that a test caught.
"""

import re

from deskcheck.recording.recording import RunResult

MESSAGE_CHARS = 200
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_TRACEBACK = "Traceback (most recent call last):\n"
_STR_FAILED = "<exception str() failed>"


def message_of(text: str) -> str:
    """The part of a message that is compared: its first line, without addresses, white space as one space."""
    line = text.strip().partition("\n")[0]
    return " ".join(_ADDRESS.sub("0x0", line).split())[:MESSAGE_CHARS]


def raised_message(run_result: RunResult) -> str | None:
    """The message of the exception that left a run, as `message_of`; None where it is not known.

    It is not known where the exception has a text of its own making and no report shows it, or where the
    report shows another text than ``str`` gives, as for a SyntaxError.
    """
    known = _known_message(run_result)
    printed = printed_message(run_result)
    return printed if known is None else known if printed in (known, None) else None


def _known_message(run_result: RunResult) -> str | None:
    """The message that the tracer could read without running code of the program."""
    head, colon, message = run_result.detail.partition(": ")
    return message_of(message) if colon and head == run_result.exception else None


def printed_message(run_result: RunResult) -> str | None:
    """The message in the interpreter's report at the end of standard error; None where there is no report."""
    name = run_result.exception
    if name is None:
        return None
    _, header, report = run_result.stderr.rpartition(_TRACEBACK)
    report = re.sub(r"\A(?:[ \t].*\n)+", "", report)
    match = re.match(rf"(?:[\w.<>]+\.)?{re.escape(name)}(?P<message>: (?s:.*))?\n", report)
    if not header or match is None:
        return None
    message = match["message"] or ""
    return None if message.startswith(f": {_STR_FAILED}") else message_of(message.removeprefix(":"))
