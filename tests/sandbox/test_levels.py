"""What a level is worth in each circumstance: root, a container's root, root without anything, an older kernel."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from deskcheck.errors import SandboxError
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Program
from deskcheck.sandbox import BareInterpreter, Limits, Provided, Sandbox, probe
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.layers import missing
from tests.circumstances import ROOT, as_bare_root, as_container, as_nobody, let_all_read
from tests.sandbox.processes import hostile_module, packages_of

CONFINED = ("strict", "standard")
PRIVILEGES = """
import ctypes, os, struct
sets = ctypes.create_string_buffer(24)
ctypes.CDLL(None).capget(struct.pack("Ii", 0x20080522, 0), sets)
print(os.getuid(), any(sets.raw))
"""
RUN = f"""
import json, sys
sys.path.insert(0, {str(ROOT / "src")!r})
from deskcheck.errors import SandboxError
from deskcheck.recording.program import Program
from deskcheck.sandbox import Sandbox
try:
    with Sandbox(sys.argv[1], workers=1) as sandbox:
        ending = sandbox.run_one(Program(id="p", code={PRIVILEGES!r}))
    print(json.dumps([ending.outcome, ending.stdout]))
except SandboxError as error:
    print(json.dumps(["refused", str(error)]))
"""
FAULTS = f"""
import json, sys
sys.path.insert(0, {str(ROOT / "src")!r})
from deskcheck.sandbox.layers import refusals
print(json.dumps(refusals()))
"""


def shown(command: list[str], code: str, *arguments: str) -> Any:
    ran = subprocess.run(
        [*command, "-c", code, *arguments],
        cwd="/",
        env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return json.loads(ran.stdout)


def needs_root(proves: str) -> None:
    if os.geteuid() != 0:
        pytest.skip(f"not root: would have proved that {proves}")


@pytest.mark.parametrize("level", [pytest.param("strict", marks=pytest.mark.slow), "standard"])
def test_a_program_of_roots_holds_no_privilege(level: str) -> None:
    """Where the interpreter is open to all, a program is another user and has no capability."""
    needs_root("programs of root's have none of its privileges")
    python = as_nobody()[-1]  # one that others may run
    outcome, printed = shown([python], RUN, level)
    assert outcome == Outcome.RETURNED, printed
    uid, privileged = printed.split()
    assert int(uid) > 1000
    assert privileged == "False"


@pytest.mark.parametrize("level", CONFINED)
def test_a_containers_root_has_both_levels(level: str) -> None:
    """With the capabilities that Docker gives, programs run, as another user, where the kernel gives namespaces."""
    needs_root("both levels can be had in a container")
    outcome, printed = shown(as_container(), RUN, level)
    assert outcome == Outcome.RETURNED, printed
    uid, privileged = printed.split()
    assert int(uid) > 1000
    assert privileged == "False"


@pytest.mark.slow
def test_root_without_capabilities_is_told_what_strict_lacks() -> None:
    """`standard` runs programs as itself and holds; what `strict` would take is named."""
    needs_root("root without capabilities is an ordinary user")
    outcome, printed = shown(as_bare_root(), RUN, "standard")
    assert (outcome, printed) == (Outcome.RETURNED, "0 False\n")
    found = shown(as_bare_root(), FAULTS)
    assert found["standard"] == found["trusted"] == ""
    assert "SETFCAP" in found["strict"]


@pytest.mark.slow
def test_an_interpreter_that_is_closed_to_others_is_refused_with_its_folder(tmp_path: Path) -> None:
    """Where the privilege to read it anyway is not there: before, `doctor` said yes and every program died."""
    needs_root("a closed interpreter is refused")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    (closed / "file").touch()
    code = RUN.replace("workers=1", f"workers=1, provided=Provided(readable=({str(closed / 'file')!r},))")
    code = code.replace("import Sandbox\n", "import Provided, Sandbox\n")
    outcome, printed = shown(as_container(), code, "standard")
    assert outcome == "refused"
    assert "cannot be read by other users" in printed
    assert "DAC_READ_SEARCH" in printed


def test_standard_is_refused_where_landlock_leaves_truncate_to_all() -> None:
    """The error says what is there, what is needed, and why."""
    sandbox = Sandbox("standard", workers=1)
    sandbox._landlock_abi = 2
    with pytest.raises(SandboxError, match=r"ABI 2 here, and 3 is needed \(Linux 6\.2\).*empty every file"):
        sandbox.__enter__()


@pytest.mark.parametrize(("level", "abi"), [("strict", 1), ("strict", 5), ("standard", 3), ("standard", 5)])
def test_older_versions_of_landlock_do(level: str, abi: int) -> None:
    sandbox = Sandbox(level, workers=1)
    sandbox._landlock_abi = abi
    with sandbox:
        run_result = sandbox.run_one(Program(id="p", code="print(1)"))
    assert (run_result.outcome, run_result.stdout) == (Outcome.RETURNED, "1\n"), run_result


@pytest.mark.parametrize("level", CONFINED)
def test_the_doctor_finds_that_nothing_is_reached(level: str) -> None:
    """Its own attack, at a level that holds."""
    assert probe.fault(Confinement(level)) == ""


def test_the_doctors_attack_is_one() -> None:
    """Without confinement it reaches all that it aims at, and each is seen."""
    with probe._targets() as (names, reached), Sandbox("trusted", workers=1) as sandbox:
        text = "".join(f"{name} = {value!r}\n" for name, value in names.items())
        run_result = sandbox.run_one(Program(id="attack", code=text + probe._ATTACK))
        assert run_result.outcome is Outcome.RETURNED, run_result
        found = reached(run_result.stdout)
    assert found == [
        "a private file", "a file outside, which it changed", "a TCP listener", "a UNIX socket", "a process of yours",
    ]  # fmt: skip


def test_nothing_is_missing_where_a_level_can_be_had() -> None:
    assert missing(Confinement.TRUSTED) == []


@pytest.mark.parametrize("level", ["strict", pytest.param("standard", marks=pytest.mark.slow)])
def test_foreign_modules_are_imported_confined(level: str, tmp_path: Path) -> None:
    """A module that every program finds imported has had no more rights than these, and they run as before."""
    place = tmp_path / "python"
    (packages_of(place) / "hostile.py").write_text(hostile_module(tmp_path))
    let_all_read(tmp_path)
    code = (
        "import sys, json, os\nassert 'hostile' in sys.modules\nimport hostile\n"
        "print(json.dumps(hostile.facts))\nprint(os.getuid(), os.listdir())\nopen('left', 'w').close()\n"
        "os.chmod('.', 0)\n"
    )
    if os.geteuid() != 0 and level == "standard":
        code = code.replace("os.chmod('.', 0)\n", "")
    interpreter, hostile = BareInterpreter(str(place / "bin" / "python")), Provided(modules=("hostile",))
    with Sandbox(level, workers=1, environment=interpreter, provided=hostile) as sandbox:
        endings = [sandbox.run_one(Program(id=str(n), code=code)) for n in range(3)]
        lasting = sandbox.run_one(Program(id="c", code="while True: pass"), limits=Limits(cpu_s=0.5))
        after = sandbox.run_one(Program(id="d", code="import os; print(os.listdir())"))
    for run_result in endings:
        assert run_result.outcome is Outcome.RETURNED, run_result
        facts, where = run_result.stdout.splitlines()
        found = json.loads(facts)
        uid = found.pop("uid")
        assert where == f"{uid} ['program.py']"
        assert uid != 0 or os.geteuid() != 0
        if level == "strict":
            assert found.pop("privileged") is False
        found.pop("privileged", None)
        found.pop("pid")
        assert set(found.values()) == {False}, found
    assert lasting.outcome is Outcome.TIMED_OUT
    assert (after.outcome, after.stdout) == (Outcome.RETURNED, "['program.py']\n")
    assert (tmp_path / "canary").read_text() == ""
