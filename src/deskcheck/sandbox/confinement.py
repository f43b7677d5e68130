"""How closely a program is confined."""

from enum import StrEnum


class Confinement(StrEnum):
    """What a program is kept from. A layer that a level needs and the kernel does not give is an error.

    What each layer does stands in `layers`; what a level stops and what it does not, in sandbox.md.
    """

    STRICT = "strict"
    """For untrusted programs: `STANDARD`, and separate namespaces for processes, network,
    IPC, host name and file system. Needs root or user namespaces."""
    STANDARD = "standard"
    """Against mistakes, not malice; without privileges, as in most containers: rlimits, seccomp and Landlock
    (ABI 3: Linux 6.2)."""
    TRUSTED = "trusted"
    """The user's own code: limits on what it uses, nothing on what it does."""
