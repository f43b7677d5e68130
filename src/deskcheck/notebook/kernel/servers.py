"""Fork servers for kernels, kept from one notebook to the next: to start one takes as long as a kernel.

A server starts each kernel as a fork of the same memory, so nothing of one notebook is in the next."""

import threading
from types import TracebackType
from typing import Self

from deskcheck.sandbox.server import Profile, Server

_LOADED = ("ipykernel.kernelapp", "ipykernel.debugger", "IPython.core.magics", "pygments.formatters")
"""What every kernel imports, and a server for many of them does once."""


class Servers:
    """Servers between two kernels, by what they were made for. Use as a context; threads may share it.

    many: whether several kernels will come out of each server. It imports more then: that pays from the
    second kernel on. most: servers that are kept idle; beyond it, those that were idle longest are ended.

    Raises ValueError where `most` is less than one.
    """

    def __init__(self, *, many: bool, most: int) -> None:
        if most < 1:
            raise ValueError(f"most={most} must be at least one")
        self.loaded = _LOADED if many else ()
        self._most = most
        self._lock = threading.Lock()
        self._idle: list[Server] = []

    def take(self, profile: Profile) -> Server:
        """A server of this profile, which may be starting. Raises SandboxError where it cannot start."""
        with self._lock:
            known = next((each for each in self._idle if each.profile == profile), None)
            if known is not None:
                self._idle.remove(known)
        return known or Server(profile)

    def give(self, server: Server) -> None:
        """Take back a server under which nothing runs."""
        with self._lock:
            self._idle.append(server)
            surplus = self._idle[: -self._most]
            del self._idle[: len(surplus)]
        for each in surplus:
            each.close()

    def close(self) -> None:
        """End all that are idle."""
        with self._lock:
            servers, self._idle = self._idle, []
        for server in servers:
            server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()
