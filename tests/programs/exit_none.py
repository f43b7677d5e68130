"""sys.exit() with None: status 0; raised inside a try with else and finally."""

import sys

try:
    print("try")
    sys.exit()
except Exception:
    print("never")
else:
    print("never")
finally:
    print("finally")
