"""The message of the exception that left a run, as Python prints it.

The tracer never runs the program's own ``__str__``. The interpreter does, when it reports the exception on
standard error after the run; `printed_message` reads it there.

It cannot read the reports of a `sys.excepthook` that the program sets, nor exceptions that a test caught.
"""

import re

from deskcheck.recording.recording import RunResult

MESSAGE_CHARS = 200
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_TRACEBACK = "Traceback (most recent call last):\n"
_STR_FAILED = "<exception str() failed>"


def message_of(text: str) -> str:
    """The comparable part of a message: its first line, with addresses masked and white space normalized."""
    line = text.strip().partition("\n")[0]
    return " ".join(_ADDRESS.sub("0x0", line).split())[:MESSAGE_CHARS]


def raised_message(run_result: RunResult) -> str | None:
    """The message of the exception that left a run, as `message_of` returns it; None if it is not known.

    It is not known if the exception makes its text itself and no report shows it, or if the report differs
    from the result of ``str``, as for a SyntaxError.
    """
    message_read = _known_message(run_result)
    printed = printed_message(run_result)
    return printed if message_read is None else message_read if printed in (message_read, None) else None


def _known_message(run_result: RunResult) -> str | None:
    """The message, if the tracer could read it without running code of the program."""
    head, colon, message = run_result.detail.partition(": ")
    return message_of(message) if colon and head == run_result.exception else None


def printed_message(run_result: RunResult) -> str | None:
    """The message in the interpreter's report at the end of standard error; None without such a report."""
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
