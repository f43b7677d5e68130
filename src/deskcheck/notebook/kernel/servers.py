"""Fork servers for kernels. Notebooks share them, as starting one takes as long as starting a kernel."""

from deskcheck.sandbox.server import ServerPool

_LOADED = ("ipykernel.kernelapp", "ipykernel.debugger", "IPython.core.magics", "pygments.formatters")
"""Modules that every kernel imports. A server for many kernels imports them once."""


class Servers(ServerPool):
    """Idle servers for the next kernel.

    many: whether each server will start several kernels. If so it imports more, which saves time from the
    second kernel on.
    max_servers: as `most` of `ServerPool`.
    """

    def __init__(self, *, many: bool, max_servers: int) -> None:
        super().__init__(max_servers)
        self.loaded = _LOADED if many else ()
