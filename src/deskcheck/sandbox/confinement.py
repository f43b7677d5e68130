"""How closely a program is confined."""

from enum import StrEnum


class Confinement(StrEnum):
    """How strictly a program is confined. If the kernel lacks a layer that a level needs, that is an error.

    `layers` describes each layer, and sandbox.md what each level stops and what it does not.
    """

    STRICT = "strict"
    """For untrusted programs: `STANDARD`, and separate namespaces for processes, network,
    IPC, host name and file system. Needs root or user namespaces."""
    STANDARD = "standard"
    """Against mistakes, not malice. Needs no privileges, so that it works in most containers: rlimits,
    seccomp and Landlock (ABI 3: Linux 6.2)."""
    TRUSTED = "trusted"
    """For the user's own code: limits on its resources, no limits on its actions."""
