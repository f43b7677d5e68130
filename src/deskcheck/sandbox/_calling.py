"""Calls from a check to the functions of a program that runs in another process. Standard library only.

On the channel, beside the recorder's messages: the check says ``ask`` with a name and arguments, the caller
hands that on to the program, whose ``answer`` goes back the same way. Both are `_plain` values.
"""

import builtins
import os
from collections.abc import Callable
from typing import Any

from deskcheck.sandbox import _plain
from deskcheck.sandbox._steps import compiled

Send = Callable[[bytes], None]


class Raised(Exception):
    """Stands in the check for an exception of a class that only the program has; its name is the text."""


def _receive(channel: int) -> bytes | None:
    data = b""
    size = 4
    while len(data) < size:
        chunk = os.read(channel, size - len(data))
        if not chunk:
            return None
        data += chunk
        if len(data) == 4 and size == 4:
            size += int.from_bytes(data, "big")
    return data[4:]


receive: Callable[[int], bytes | None] = _receive if compiled is None else compiled.receive
"""The next message from the caller: its length in four bytes, and that many more. None at the end."""


def answer_calls(names: dict[str, Any], channel: int, send: Send) -> None:
    """Call the functions of a program as asked, until nobody asks any more.

    What comes back is the result, the arguments as the call left them, or the exception.
    """
    while (request := receive(channel)) is not None:
        name, args, kwargs = _plain.loads(request)
        try:
            result = names[name](*args, **kwargs)
        except MemoryError:
            raise  # a limit of the program's, and its end
        except Exception as error:  # noqa: BLE001 - whatever it is, it goes to who called
            send(b"answer " + _plain.dumps(["raised", type(error).__name__, ""]))
            continue
        try:
            reply = _plain.dumps(["returned", result, [*args]])
        except _plain.CannotCross as error:
            reply = _plain.dumps(["raised", "TypeError", f"the result cannot be compared: {error}"])
        send(b"answer " + reply)


def proxy(name: str, channel: int, send: Send) -> Callable[..., Any]:
    """A function that stands for the program's function of that name."""

    def function(*args: Any, **kwargs: Any) -> Any:
        send(b"ask " + _plain.dumps([name, args, kwargs]))
        reply = receive(channel)
        if reply is None:
            raise EOFError("the program is gone")
        try:
            how, what, more = _plain.loads(reply)
        except (_plain.CannotCross, TypeError, ValueError):
            raise TypeError("what the program answered cannot be read") from None
        if how == "raised":
            kind = getattr(builtins, str(what), None)
            if not (isinstance(kind, type) and issubclass(kind, Exception)):
                # Not a class of that name, or the program could pass its errors off as the check's own.
                raise Raised(str(what))
            raise kind(more)
        if type(more) is not list or len(more) != len(args):
            raise TypeError("what the program answered cannot be read")
        for given, left in zip(args, more, strict=True):
            _take_over(given, left)
        return what

    function.__name__ = function.__qualname__ = name
    return function


def _take_over(given: Any, left: Any) -> None:
    """Have an argument be what the call made of it."""
    if type(given) is not type(left) or given == left:
        return
    if isinstance(given, (list, bytearray)):
        given[:] = left
    elif isinstance(given, (dict, set)):
        given.clear()
        given.update(left)
