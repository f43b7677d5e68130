"""CP-Bench (Michailidis et al. 2025, arXiv:2506.06052): models of constraint problems, from a user's file.

An answer is a script that prints a solution as JSON. It is right if the model of the set still has a solution
with the printed values as further constraints. If the problem is an optimisation, this solution must be as
good as the best. The set's model and solver (CPMpy, OR-Tools) decide this in another process of an
environment that has them; texts are not compared. Not covered: instances other than the one in the row, and
models whose printed solution is computed by more than expressions of CPMpy (`deskcheck selfcheck` names
them).
"""

import re

from deskcheck.fences import fenced
from deskcheck.sources.sets.coding import CodingTask
from deskcheck.sources.text.rows import Row
from deskcheck.sources.text.shipped import shipped

_DATA = re.compile(r"^# Data\b.*?\n(.*?)^# End of data", re.DOTALL | re.MULTILINE)


def cp_bench(row: Row, location: str) -> CodingTask:
    match = _DATA.search(row["model_cpmpy"])
    data = f"\n\nThe data:\n{fenced(match.group(1).rstrip(), 'python')}" if match else ""
    return CodingTask(
        id=f"cp_bench/{row['id']}",
        prompt=f"{row['description'].strip()}{data}\n\n{_FORM}",
        checker=f"{shipped('cp_bench.py')}\ncheck({row['model_cpmpy']!r}, printed)\n",
        reference=row["model_cpmpy"],
        known_bad=("print('{}')", "print('no solution')"),
        modules=("cpmpy", "numpy"),
    )


_FORM = (
    "Solve it with CPMpy and print one JSON object, and nothing else: the names in parentheses are its keys."
)
