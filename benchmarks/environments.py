"""GitChameleon 2.0 in environments: each row's library in its own version, its reference run in the sandbox.

    python benchmarks/environments.py dataset.jsonl.gz --library sympy --library networkx [--python 3.11]

The set names Python 3.7 to 3.10; all of it is tried on one version that deskcheck runs on, so some libraries
cannot be installed and some references fail. Builds need a package index the first time.
"""

import argparse
import gzip
import json
import re
import time
from collections import Counter
from pathlib import Path
from typing import Any

from deskcheck.recording import InputError, Program
from deskcheck.sandbox.environments import EnvironmentSpec, build
from deskcheck.sandbox.limits import Limits
from deskcheck.sandbox.sandbox import Sandbox


def spec_of(row: dict[str, Any], python: str) -> EnvironmentSpec:
    pins = [f"{row['library']}=={row['version']}", *row["additional_dependencies"].split()]
    name = re.sub(r"[^A-Za-z0-9.-]+", "-", "-".join(pins))
    return EnvironmentSpec(name=f"gitchameleon-{name}-{python}", python=python, packages=tuple(pins))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--library", action="append", required=True)
    parser.add_argument("--python", default="3.11")
    given = parser.parse_args()
    with gzip.open(given.file, "rt", encoding="utf-8") as stream:
        rows = [row for row in map(json.loads, stream) if row["library"] in given.library]
    programs, not_built, started = [], Counter[str](), time.monotonic()
    built: dict[str, str] = {}
    for row in rows:
        spec = spec_of(row, given.python)
        if spec.name not in built:
            try:
                built[spec.name] = build(spec, note=print).python_version
            except InputError as error:
                built[spec.name] = ""
                print(error)
        if not built[spec.name]:
            not_built[spec.name] += 1
            continue
        code = f"{row['starting_code']}{row['solution']}\n{row['test']}\n"
        programs.append(Program(id=row["example_id"], code=code, extra={"environment": spec.name}))
    building_s, started = time.monotonic() - started, time.monotonic()
    outcomes: Counter[str] = Counter()
    with Sandbox(workers=1, limits=Limits(cpu_s=60, wall_s=180)) as sandbox:
        for result in sandbox.run(programs):
            outcomes[result.run_result.outcome.value] += 1
            if result.run_result.outcome != "returned":
                print(f"  {result.program.id}: {result.run_result.outcome}: {result.run_result.detail:.150}")
    there, without = sum(map(bool, built.values())), sum(not_built.values())
    print(f"{there} of {len(built)} environments built in {building_s:.0f} s; {without} rows without")
    print(f"{len(programs)} references in {time.monotonic() - started:.0f} s: {dict(outcomes)}")


if __name__ == "__main__":
    main()
