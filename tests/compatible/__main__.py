"""Write the files of a version that every later one has to read:  python -m tests.compatible NEW_FOLDER

They are made from the inputs of tests/frozen, by commands, and stand in tests/compatible/VERSION with what this version
reads in them (`expected.json`). Files of a version are written once, when its format is settled, and stay as they are.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from tests.compatible.reading import everything

INPUTS = Path(__file__).parents[1] / "frozen" / "inputs"
QUESTIONS = "output,input,next_line,state,path"
STEPS = (
    "record calls.jsonl --workers 1 --out recordings",
    "record some.jsonl --granularity instruction --workers 1 --out instructions",
    "record generated:6,difficulty=1-3,inputs=1,seed=7 --workers 1 --shards 2 --out job",
    "record notebooks:notebooks --out books",
    f"offline questions recordings -q {QUESTIONS} --out questions.jsonl",
    "offline score questions.jsonl answers.jsonl --out scores",
    "lessons recordings --any-licence --notation scratchpad,dynamic --out lessons",
    "ask recordings -q output,state --limit 6 -m deskcheck/oracle -m deskcheck/guess --out run",
)
NOT_KEPT = ("notebooks", "project", "calls.jsonl", "some.jsonl", "draws.py")


def main(folder: Path) -> None:
    shutil.copytree(INPUTS, folder)
    some = (folder / "calls.jsonl").read_text().splitlines(keepends=True)[:3]
    (folder / "some.jsonl").write_text("".join(some))
    for step in STEPS:
        command = [sys.executable, "-m", "deskcheck", *step.split()]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    for name in NOT_KEPT:
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for hidden in folder.rglob(".*"):
        shutil.rmtree(hidden) if hidden.is_dir() else hidden.unlink()
    read = json.dumps(everything(folder), indent=1, sort_keys=True)
    (folder / "expected.json").write_text(f"{read}\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
