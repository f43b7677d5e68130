"""What was drawn is found again where one cell leaves it outside of the variables and another reads it: in files,
in environment variables, in commands."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from deskcheck.notebook.kernel.chance.draws import Draws
from tests.notebook.words import words

IMPORTS = "import random, json, os, pickle, sqlite3, shutil\nfrom pathlib import Path"
DATABASE = """c = sqlite3.connect('d')
c.execute('create table t (a)'); c.execute('insert into t values (?)', (random.choice('ab'),))
c.commit(); c.close()"""
CHANCE: list[list[str]] = [
    ["x = random.choice('ab')", "Path('f').write_text(x)", "print(Path('f').read_text())"],
    ["Path('f').write_text(random.choice('ab'))", "with open('f') as f:\n    print(f.read() == 'a')"],
    ["Path('f').write_text(random.choice('ab'))", "shutil.copy('f', 'g')", "Path('g').read_text()"],
    ["Path('f').write_text(random.choice('ab'))", "x = Path('f').read_text()", "x"],
    [
        "Path('f').write_bytes(pickle.dumps(random.choice('ab')))",
        "x = pickle.loads(Path('f').read_bytes())",
        "len(x)",
    ],
    [DATABASE, "c = sqlite3.connect('d')", "print(c.execute('select a from t').fetchone()); c.close()"],
    ["os.environ['MODE'] = random.choice('ab')", "print('a' if os.getenv('MODE') == 'a' else 'b')"],
    ["os.environ['MODE'] = random.choice('ab')", "!echo $MODE"],
    ["os.environ['MODE'] = random.choice('ab')", "%%bash\necho $MODE"],
    ["x = random.choice('ab')", "!echo {x}"],
    ["x = random.choice('ab')", "y = !echo $x", "y"],
]
FIXED: list[list[str]] = [
    ["Path('f').write_text('a')", "x = random.choice('ab')", "Path('f').read_text()"],
    ["x = random.choice('ab')", "Path('f').write_text('a')", "Path('f').read_text()"],
    ["Path('f').write_text(random.choice('ab'))", "Path('f').write_text('a')", "Path('f').read_text()"],
    ["random.seed(1)", "Path('f').write_text(random.choice('ab'))", "Path('f').read_text()"],
    ["Path('f').write_text(random.choice('ab'))", "print(len([1, 2]))"],
    ["os.environ['MODE'] = random.choice('ab')", "os.environ['MODE'] = 'a'", "os.environ['MODE']"],
    ["os.environ['MODE'] = random.choice('ab')", "os.environ['OTHER'] = 'a'", "os.environ['OTHER']"],
    ["x = random.choice('ab')", "!echo x", "1"],
]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("MODE", "OTHER"):
        monkeypatch.setenv(name, "")


def last(cells: list[str]) -> tuple[str, ...]:
    """What of the last cell is chance."""
    draws, namespace = Draws(), dict[str, Any](__name__="__main__")
    found: tuple[str, ...] = ()
    draws.watch_files()
    for code in (IMPORTS, *cells):
        draws.begin(namespace, code)
        found = ()
        if not code.startswith("%%"):
            python = [line for line in code.splitlines() if "!" not in line]
            exec("\n".join(python), namespace)
        if "= !" in code:
            namespace["y"] = ["a"]
        found = words(draws.end(namespace, code))
        time.sleep(0.01)  # between two cells of a kernel a message is sent and received
    return found


@pytest.mark.parametrize("cells", CHANCE, ids=str)
def test_what_was_left_is_read(cells: list[str]) -> None:
    """The cell that reads it is chance, and says what it read and from which generator that came."""
    found = last(cells)
    assert found
    assert all(each.startswith(("reads ", "the value of ")) and "random" in each for each in found)


@pytest.mark.parametrize("cells", FIXED, ids=str)
def test_what_was_not_drawn_is_not_chance(cells: list[str]) -> None:
    """Files and environment variables that another cell wrote, before or after; seeds; what is not read."""
    assert last(cells) == ()


def test_a_file_of_another_process_is_found() -> None:
    """A command that the drawing cell runs has written the file, and no function of Python."""
    found = last(["n = random.choice('ab'); os.system(f'echo {n} > f')", "Path('f').read_text()"])
    assert [*found] == ["reads f (random)"]
    assert os.path.exists("f")
