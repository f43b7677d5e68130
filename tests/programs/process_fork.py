"""os.fork: two processes from one line; the child leaves with os._exit, the parent waits."""

import os
import sys

a = 6
sys.stdout.flush()
pid = os.fork()
if pid == 0:
    a += 10
    print("child", a, flush=True)
    os._exit(a)
_, status = os.waitpid(pid, 0)
print("parent", a, os.waitstatus_to_exitcode(status))
read, write = os.pipe()
sys.stdout.flush()
if os.fork() == 0:
    os.close(read)
    os.write(write, b"by pipe")
    os._exit(0)
os.close(write)
print(os.read(read, 100), os.read(read, 100), os.waitstatus_to_exitcode(os.wait()[1]))
os.close(read)
