"""Fork servers for kernels, kept from one notebook to the next: to start one takes as long as a kernel."""

from deskcheck.sandbox.server import ServerPool

_LOADED = ("ipykernel.kernelapp", "ipykernel.debugger", "IPython.core.magics", "pygments.formatters")
"""What every kernel imports, and a server for many of them does once."""


class Servers(ServerPool):
    """Servers between two kernels. many: whether several kernels will come out of each server. It imports
    more then: that pays from the second kernel on. most: as of `ServerPool`."""

    def __init__(self, *, many: bool, most: int) -> None:
        super().__init__(most)
        self.loaded = _LOADED if many else ()
