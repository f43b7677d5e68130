"""The program runs itself in a subprocess: the child's output and status come back as a value."""

import os
import subprocess
import sys

if len(sys.argv) > 1:
    a = int(sys.argv[1])
    print("child", a * 2, os.environ.get("GIVEN"), sys.gettrace())
    sys.exit(a)
done = subprocess.run([sys.executable, __file__, "10"], capture_output=True, text=True, env={**os.environ, "GIVEN": "11"})
print(done.stdout.strip(), done.returncode, repr(done.stderr), flush=True)
try:
    subprocess.run([sys.executable, "-c", "print(input()[::-1], flush=True); raise SystemExit(14)"], input="olleh\n", text=True, check=True)
except subprocess.CalledProcessError as error:
    print(error.returncode)
