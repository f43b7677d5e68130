"""os.fork where the child does not _exit: it runs on to the end of the program, atexit handlers and all."""

import atexit
import os
import sys

who = "parent"
atexit.register(lambda: print("atexit", who, flush=True))
print("before", flush=True)
pid = os.fork()
if pid == 0:
    who = "child"
    result = [n for n in range(3)]
else:
    os.waitpid(pid, 0)
    result = "waited"
print(who, result, flush=True)
sys.exit(19 if pid else 18)
