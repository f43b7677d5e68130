"""A program that changes the working directory, the environment and the umask, and cleans up."""

import os
import pathlib
import sys
import tempfile

before = os.getcwd()
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    old_mask = os.umask(0o077)
    pathlib.Path("relative.txt").write_text("here")
    print(os.listdir(), oct(os.stat("relative.txt").st_mode & 0o777))
    os.umask(old_mask)
    os.environ.clear()
    os.environ["ONLY"] = "one"
    print(dict(os.environ), len(sys.argv))
    os.chdir(before)
print(os.getcwd() == before, os.path.exists(folder))
