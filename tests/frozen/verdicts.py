"""Verdicts of a check that runs in another process than the program: a line of JSON for each, on standard output.

No command reaches this marking, so that it is called through the package's public names.
"""

import json

from deskcheck.recording.program import Program
from deskcheck.sandbox import Checked, Limits, Sandbox

CHECK = "assert f([2, 1]) == [1, 2]\nassert f([]) == []\n"
PROGRAMS = {
    "right": "def f(x):\n    return sorted(x)\n",
    "right_in_place": "def f(x):\n    x.sort()\n    return x\n",
    "wrong": "def f(x):\n    return x\n",
    "nearly": "def f(x):\n    return sorted(x) or None\n",
    "raises": "def f(x):\n    return x[5]\n",
    "raises_at_once": "1 / 0\n",
    "absent": "def g(x):\n    return sorted(x)\n",
    "exits": "def f(x):\n    raise SystemExit(0)\n",
    "exits_at_once": "import os\nos._exit(0)\n",
    "endless": "def f(x):\n    while True:\n        pass\n",
    "equal_to_all": "class A(list):\n    def __eq__(self, other):\n        return True\ndef f(x):\n    return A()\n",
    "no_syntax": "def f(x:\n",
    "rewrites_assert": "import builtins\nbuiltins.AssertionError = None\ndef f(x):\n    return 1\n",
    "prints": "def f(x):\n    print('passed')\n",
}


def main() -> None:
    with Sandbox(limits=Limits(cpu_s=2, wall_s=600)) as sandbox:
        for name, code in PROGRAMS.items():
            run_result = sandbox.check_one(Checked(Program(id=name, code=code), CHECK, ("f",)))
            print(json.dumps({"id": name, "outcome": run_result.outcome.value, "detail": run_result.detail}))


if __name__ == "__main__":
    main()
