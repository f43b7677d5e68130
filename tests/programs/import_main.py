"""`if __name__ == '__main__'`, and everything else a script can learn about how it was started."""

import builtins
import os
import sys


def main(argv):
    print(__name__, len(argv), os.path.basename(argv[0]))
    print(sys.modules["__main__"].__dict__ is globals(), __spec__, __package__, type(__loader__).__name__)
    print(os.path.basename(__file__), os.path.samefile(sys.path[0], os.path.dirname(os.path.abspath(__file__))))
    print(__builtins__ is builtins, __doc__[:5], __annotations__, main.__module__)
    print([name for name in globals() if not name.startswith("__")])
    print(sys._getframe().f_back.f_code.co_name, sys.flags.interactive, sys.flags.no_site)
    return 0


a: int = 20

if __name__ == "__main__":
    sys.exit(main(sys.argv))
