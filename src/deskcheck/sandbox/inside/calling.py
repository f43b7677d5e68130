"""Calls from a check to the functions of a program in another process. Standard library only.

The check sends ``ask`` on its channel, the program ``answer``, and the caller passes these messages on. One
side runs while the other waits. The waiting side may have to make a call too: of a function that was an
argument, or for the next item of an iterator. A number represents such an object. A message is a tuple of
plain values (`codec`). It begins with ``call``, and its answer with ``returned`` (the result and the contents
of the arguments), ``raised``, ``ended`` or ``cannot``.
"""

import os
from collections.abc import Callable, Iterator
from typing import Any

from deskcheck.sandbox.inside.codec import CannotCross, OwnWord, PlainDecoder, PlainEncoder, Raised
from deskcheck.sandbox.linux.steps import compiled

Send = Callable[[bytes], None]


class NotCompared(BaseException):
    """A value cannot be sent to the check. A BaseException, so that no check catches it by mistake."""


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
"""The next message from the caller: a length in four bytes, then that many bytes. None at the end."""


class Peer:
    """One of the two sides. `not_compared` is the reason why a value could not be sent, for the first one.

    Args:
        names: the functions that the other side may call, by name.
        word: ``ask`` or ``answer``.
    """

    def __init__(self, names: dict[str, Any], channel: int, send: Send, word: bytes) -> None:
        self._names = names
        self._channel = channel
        self._send = send
        self._word = word
        self._objects: list[Any] = []
        """Functions and iterators of this side that the other side knows, by number."""
        self._numbers: dict[int, int] = {}
        """The number of each of these objects, by `id`. A stand-in for the other side's n has -1 - n."""
        self._stand_ins: dict[int, Any] = {}
        self.not_compared: str | None = None

    def function(self, name: str) -> Callable[..., Any]:
        """A function that calls the other side's function of that name."""
        return self._stand_in(name, name)

    def serve(self) -> None:
        """Make the calls that the other side asks for, until its end."""
        while (message := receive(self._channel)) is not None:
            self._answer(message)

    def _say(self, message: bytes) -> None:
        self._send(self._word + b" " + message)

    def _stays(self, value: Any) -> int:
        number = self._numbers.setdefault(id(value), len(self._objects))
        if number == len(self._objects):
            self._objects.append(value)
        return number

    def _from_there(self, kind: str, number: int, name: str) -> Any:
        if number < 0:
            return self._objects[-1 - number]
        if number not in self._stand_ins:
            stand_in = self._stand_in(number, name) if kind == "function" else self._items(number)
            self._stand_ins[number] = stand_in
            self._numbers[id(stand_in)] = -1 - number
        return self._stand_ins[number]

    def _stand_in(self, target: str | int, name: str) -> Callable[..., Any]:
        def function(*args: Any, **kwargs: Any) -> Any:
            return self._call(target, args, kwargs)

        function.__name__ = function.__qualname__ = name
        return function

    def _items(self, number: int) -> Iterator[Any]:
        while True:
            item = self._call(number, (), None)
            if item is _ENDED:
                return
            yield item

    def _call(self, target: str | int, args: Any, kwargs: Any) -> Any:
        sent = PlainEncoder(stays=self._stays)
        try:
            message = sent.dumps(("call", target, args, kwargs))
        except CannotCross as error:
            raise self._cannot(f"an argument: {error}") from None
        self._say(message)
        while True:
            reply = receive(self._channel)
            if reply is None:
                raise EOFError("the program is gone")
            if not _is_call(reply):
                return self._result(reply, sent.objects)
            self._answer(reply)

    def _result(self, reply: bytes, objects: list[Any]) -> Any:
        try:
            answer = PlainDecoder(objects, self._from_there).loads(reply)
        except CannotCross as error:
            raise TypeError(f"what the program answered cannot be read: {error}") from None
        match answer:
            case ("returned", value, _):
                return value
            case ("ended",):
                return _ENDED
            case ("raised", BaseException() as raised):
                raise _for_the_caller(raised)
            case ("cannot", str(why)):
                raise self._cannot(why)
        raise TypeError("what the program answered cannot be read")

    def _cannot(self, reason: str) -> NotCompared:
        if self.not_compared is None:
            self.not_compared = reason
        return NotCompared(reason)

    def _answer(self, message: bytes) -> None:
        """Make a call for the other side and send the result."""
        decoder = PlainDecoder(stands_in=self._from_there)
        try:
            _, target, args, kwargs = decoder.loads(message)
            objects = tuple(decoder.objects[number] for number in range(len(decoder.objects)))
        except (CannotCross, KeyError, TypeError, ValueError) as error:
            self._reply(("cannot", f"a call that cannot be read: {error}"))
            return
        try:
            function = self._names[target] if isinstance(target, str) else self._objects[target]
            if kwargs is None:
                result = next(function)
            else:
                result = function(*args, **kwargs)
        except MemoryError:
            raise  # a limit of the program's, and its end
        except StopIteration as error:
            self._reply(("ended",) if kwargs is None else ("raised", error))
        except Exception as error:  # noqa: BLE001 - whatever it is, it goes to who called
            self._reply(("raised", error))
        else:
            self._reply(("returned", result, objects), objects)

    def _reply(self, answer: tuple[Any, ...], objects: tuple[Any, ...] = ()) -> None:
        try:
            message = PlainEncoder(objects, self._stays).dumps(answer)
        except OwnWord as error:
            message = PlainEncoder().dumps(("raised", TypeError(str(error))))
        except CannotCross as error:
            if answer[0] == "raised":  # something in it cannot cross, but what it is can
                message = PlainEncoder().dumps(("raised", Raised(f"{type(answer[1]).__name__}: {error}")))
            else:
                message = PlainEncoder().dumps(("cannot", f"the result: {error}"))
        self._say(message)


_ENDED = object()


def _is_call(message: bytes) -> bool:
    return message.startswith(_CALL)


_CALL = PlainEncoder().dumps(("call",))[:-1]
"""Beginning of a message that is not a reply."""


def _for_the_caller(error: BaseException) -> BaseException:
    """The exception for the caller.

    StopIteration would end the ``map`` around the call, and ``all(map(f, xs))`` would be true. So it becomes
    a RuntimeError, as in a generator (PEP 479).
    """
    if isinstance(error, (StopIteration, StopAsyncIteration)):
        return RuntimeError(f"the program raised {type(error).__name__}")
    return error if isinstance(error, Exception) else Raised(type(error).__name__)
