"""What an environment's .pth files and `sitecustomize` do, they do confined; and it is what they do anywhere."""

import json
import os
import subprocess
import sysconfig
from pathlib import Path

import pytest

from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Program
from deskcheck.sandbox import BareInterpreter, Limits, Provided, Sandbox
from tests.circumstances import let_all_read
from tests.sandbox.processes import hostile_module, packages_of

SEEN = """
import json, os, sys
import found_by_path
places = {name: getattr(sys, name) for name in ("prefix", "exec_prefix", "base_prefix")}
flags = {name: getattr(sys.flags, name) for name in type(sys.flags).__match_args__}
path = [each for each in sys.path if each != os.getcwd()]
print(json.dumps([places, flags, path, sys.told, "usercustomize" in sys.modules, exit is not None]))
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with files of each kind."""
    folder = tmp_path_factory.mktemp("site")
    let_all_read(folder)
    python = folder / "python"
    packages = packages_of(python)
    (packages / "beside").mkdir()
    (packages / "beside" / "found_by_path.py").touch()
    (packages / "a.pth").write_text(
        "import sys; sys.told = []\n"
        "beside\n"
        "import sys; sys.told.append(sys._getframe(1).f_locals['sitedir'])\n"
        "import does_not_exist\n"
        "import sys; sys.told.append('after an error')\n"
    )
    (packages / "b.pth").write_text("import hostile, sys; sys.told.append('b')\n")
    (packages / "hostile.py").write_text("facts = None\n")
    (packages / "sitecustomize.py").write_text("import sys; sys.told.append('sitecustomize')\n")
    return folder


def python_of(place: Path) -> str:
    return str(place / "python" / "bin" / "python")


@pytest.mark.parametrize("level", ["strict", pytest.param("standard", marks=pytest.mark.slow)])
@pytest.mark.parametrize("modules", [(), ("json",)])
def test_it_runs_confined_before_each_program(
    level: str, modules: tuple[str, ...], place: Path, tmp_path: Path
) -> None:
    """It has no more rights than the program, where nothing else is imported before either."""
    (hostile,) = place.glob("python/lib/python*/site-packages/hostile.py")
    hostile.write_text(hostile_module(tmp_path))
    let_all_read(tmp_path)
    code = "import hostile, json, os\nprint(json.dumps([hostile.facts, os.getuid(), os.getpid()]))\n"
    with Sandbox(
        level, workers=1, environment=BareInterpreter(python_of(place)), provided=Provided(modules=modules)
    ) as sandbox:
        endings = [sandbox.run_one(Program(id=str(n), code=code)) for n in range(2)]
    for run_result in endings:
        assert run_result.outcome is Outcome.RETURNED, run_result
        found, uid, pid = json.loads(run_result.stdout)
        assert found.pop("uid") == uid
        assert uid != 0 or os.geteuid() != 0
        assert (found.pop("pid") == pid) is not bool(modules)
        found.pop("privileged")
        assert set(found.values()) == {False}, found
        assert run_result.refused == {}, "what an environment was refused is not the program's"


without_its_own = pytest.mark.skipif(
    Path(sysconfig.get_path("stdlib"), "sitecustomize.py").exists(),
    reason="this Python brings a sitecustomize: would show that an environment's runs",
)


@without_its_own
@pytest.mark.parametrize("level", ["trusted", "strict"])
def test_a_program_sees_what_it_sees_anywhere(level: str, place: Path) -> None:
    """Paths, prefixes and flags, what was run and in which order, are those of the interpreter by itself; what lies
    beside the program is not taken for what the environment imports."""
    plain = subprocess.run(
        [python_of(place), "-s", "-P", "-c", SEEN],
        env={"PATH": os.defpath, "PYTHONHASHSEED": "0", "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=True,
    )
    expected = json.loads(plain.stdout)
    assert [Path(told).name for told in expected[3]] == ["site-packages", "b", "sitecustomize"]
    with Sandbox(level, workers=1, environment=BareInterpreter(python_of(place))) as sandbox:
        run_result = sandbox.run_one(Program(id="p", code=SEEN))
    assert run_result.outcome is Outcome.RETURNED, run_result
    assert json.loads(run_result.stdout) == expected


@without_its_own
def test_it_is_under_the_programs_limits(place: Path) -> None:
    """An endless `sitecustomize` ends with the program's time, and the next program is no worse for it."""
    (custom,) = place.glob("python/lib/python*/site-packages/sitecustomize.py")
    kept = custom.read_text()
    custom.write_text("while True: pass\n")
    try:
        with Sandbox("trusted", workers=1, environment=BareInterpreter(python_of(place))) as sandbox:
            run_result = sandbox.run_one(Program(id="p", code=""), limits=Limits(cpu_s=0.5))
            custom.write_text(kept)
            after = sandbox.run_one(Program(id="q", code="print(1)"))
    finally:
        custom.write_text(kept)
    assert run_result.outcome is Outcome.TIMED_OUT, run_result
    assert (after.outcome, after.stdout) == (Outcome.RETURNED, "1\n"), after
