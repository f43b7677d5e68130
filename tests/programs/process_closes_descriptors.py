"""A program that closes every file descriptor but the standard ones, as daemons do."""

import os
import tempfile

a = 6
os.closerange(3, 1024)
b = 8
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "file")
    with open(path, "w") as file:
        file.write("still works")
    with open(path) as file:
        print(file.read(), a, b)
os.closerange(3, 1024)
print("end")
