"""Fork servers between two programs or kernels: to start one takes as long as many programs run.

A server starts each program as a fork of the same memory, so nothing of one is in the next."""

import threading
from types import TracebackType
from typing import Self

from deskcheck.sandbox.server import Profile, Server


class ServerPool:
    """Servers under which nothing runs, by what they were made for. Use as a context; threads may share it.

    most: servers that are kept; beyond it, those that were idle longest are ended.

    Raises ValueError where `most` is less than one.
    """

    def __init__(self, most: int) -> None:
        if most < 1:
            raise ValueError(f"most={most} must be at least one")
        self._most = most
        self._lock = threading.Lock()
        self._closed = False
        self.idle: list[Server] = []

    def take(self, profile: Profile) -> Server:
        """A server of this profile, which may be starting. Raises SandboxError where it cannot start."""
        with self._lock:
            known = next((each for each in self.idle if each.profile == profile), None)
            if known is not None:
                self.idle.remove(known)
        return known or Server(profile)

    def give(self, server: Server) -> None:
        """Take a server under which nothing runs. Once the pool is closed, it is ended."""
        with self._lock:
            self.idle.append(server)
            surplus = self.idle[:] if self._closed else self.idle[: -self._most]
            del self.idle[: len(surplus)]
        for each in surplus:
            each.close()

    def close(self) -> None:
        """End all servers, and those that are given from now on."""
        with self._lock:
            self._closed = True
            servers, self.idle = self.idle, []
        for server in servers:
            server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()
