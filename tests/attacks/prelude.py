# What stands before every attack: `target`, what it may aim at, from the names in FACTS; and what takes back
# the guards that only set attributes to None, as anybody would who wants to get round them.
import builtins
import os
import sys

import _io
import posix


class Target:
    def __init__(self, facts):
        vars(self).update(facts)
        self.token = facts["token"].encode()

    def knows(self, found):
        """Whether these bytes are the secret, which no attack is told."""
        import hashlib

        return hashlib.sha256(found).hexdigest() == self.secret_sha256

    def finds(self, found):
        """Whether the secret is somewhere in these bytes."""
        import re

        return any(map(self.knows, re.findall(rb"secret-[0-9a-f]{32}", found)))

    def mark(self):
        """Give this process, and those it forks from now on, the name by which the runner finds it."""
        import ctypes

        ctypes.CDLL(None).prctl(15, self.comm.encode(), 0, 0, 0)

    def channel(self):
        """The function that the recorder sends its messages with."""
        frame = sys._getframe()
        while frame:
            for thing in [*frame.f_locals.values()]:
                send = getattr(thing, "send", None)
                if getattr(send, "__module__", None) == "deskcheck.sandbox.inside.channel":
                    return send
            frame = frame.f_back
        raise RuntimeError("not found")

    def sockets(self):
        """Descriptors that are sockets."""
        import stat

        found = []
        for fd in range(3, 1 << 14):
            try:
                if stat.S_ISSOCK(os.fstat(fd).st_mode):
                    found.append(fd)
            except OSError:
                continue
        return found


target = Target(FACTS)
for name in dir(posix):
    if getattr(os, name, 0) is None:
        setattr(os, name, getattr(posix, name))
builtins.open = _io.open
for name in [name for name, module in sys.modules.items() if module is None]:
    del sys.modules[name]
del name
