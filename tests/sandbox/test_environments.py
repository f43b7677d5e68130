"""Environments: built once, whole or not at all, and what programs then run with and recordings tell."""

import base64
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskcheck.recorder.programs import record_programs
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording import InputError, Mode, Outcome, Program
from deskcheck.recording.reader import Recordings
from deskcheck.sandbox.environments import (
    BuiltEnvironment,
    EnvironmentSpec,
    build,
    environments,
    find,
    remove,
)
from deskcheck.sandbox.sandbox import Sandbox

ROOT = Path(__file__).parents[2]
# What is built once serves the tests of this file that a worker runs.


def make_wheel(folder: Path, version: str, body: str) -> None:
    """A wheel of the package tiny-package, whose module is tiny (the format: PEP 427)."""
    stem = f"tiny_package-{version}"
    files = {
        "tiny.py": body,
        f"{stem}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: tiny-package\nVersion: {version}\n",
        f"{stem}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = f"{stem}.dist-info/RECORD"
    rows = [
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b'=').decode()},{len(text)}"
        for name, text in files.items()
    ]
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as wheel:
        for name, text in {**files, record: "\n".join([*rows, f"{record},,"]) + "\n"}.items():
            wheel.writestr(name, text)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    for version in ("1.0", "2.0"):
        make_wheel(folder, version, f"VERSION = {version!r}\n\n\ndef twice(x):\n    return 2 * x\n")
    return folder


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache of this file's own."""
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("cache")
        patch.setenv("XDG_CACHE_HOME", str(home))
        yield home


@pytest.fixture(scope="module")
def one(wheels: Path) -> BuiltEnvironment:
    spec = EnvironmentSpec(name="tiny-1", packages=("tiny-package==1.0",), modules=("tiny",))
    return build(spec, wheels=wheels)


@pytest.fixture(scope="module")
def two(wheels: Path) -> BuiltEnvironment:
    return build(EnvironmentSpec(name="tiny-2", packages=("tiny-package==2.0",)), wheels=wheels)


def call(
    name: str, environment: str | None, code: str = "import tiny\ndef f():\n    return tiny.VERSION\n"
) -> Program:
    extra = {} if environment is None else {"environment": environment}
    return Program(id=name, code=code, mode=Mode.CALL, entry="f", arguments="()", extra=extra)


# -- what is asked for -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "numpy",
        "numpy>=1.26",
        "numpy==1.*",
        "numpy==4.15.",
        "numpy @ file:///numpy.whl",
        "==1.0",
        "numpy==1.0 scipy==1.0",
        "",
    ],
)
def test_what_is_not_pinned_is_refused(text: str) -> None:
    """A package without one full version is an error that shows it."""
    with pytest.raises(InputError, match="is not pinned") as refused:
        EnvironmentSpec(name="x", packages=("six==1.16.0", text))
    assert repr(text) in str(refused.value)


def test_one_package_with_two_versions_is_refused() -> None:
    """The spelling of the name does not hide it; the same pin twice is one pin."""
    with pytest.raises(InputError, match="zope-interface is pinned twice"):
        EnvironmentSpec(name="x", packages=("zope.interface==5.0", "Zope_Interface==6.0"))
    spec = EnvironmentSpec(name="x", packages=("Requests==2.31.0", "requests == 2.31.0"))
    assert spec.packages == ("requests==2.31.0",)


PINS = ["a-b==1.0", "c[x,y]==2.0", "d==1!3.0+local", "e==4.0; python_version < '3.13'"]


@given(st.permutations(PINS))
def test_the_order_of_pins_does_not_count(pins: list[str]) -> None:
    """Any order of the pins is the same environment."""
    assert EnvironmentSpec(name="x", packages=tuple(pins)) == EnvironmentSpec(name="x", packages=tuple(PINS))


def test_requirements_files_are_read(tmp_path: Path) -> None:
    """Comments and continued lines are pip's; an option is refused, since it could bring anything."""
    file = tmp_path / "web.txt"
    file.write_text(
        "# the web\nFlask==3.0.3  # a comment\n\nsix==1.16.0 \\\n    --hash=sha256:" + "0" * 64 + "\n"
    )
    spec = EnvironmentSpec.read(file)
    assert spec.name == "web"
    assert spec.packages == ("flask==3.0.3", "six==1.16.0 --hash=sha256:" + "0" * 64)
    file.write_text("-r other.txt\n")
    with pytest.raises(InputError, match=r"-r other\.txt: options of pip"):
        EnvironmentSpec.read(file)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('python = "2.7"', "is not like 3.12"),
        ("packages = [1]", "lists of strings"),
        ('pakages = ["six==1.0"]', "'pakages' is unknown"),
        ('packages = "six==1.0"', "has the wrong type"),
        ("packages = [", "is not TOML"),
        ('name = "../up"', "a name is made of"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(text: str, said: str, tmp_path: Path) -> None:
    """The error names what is wrong."""
    file = tmp_path / "x.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=said):
        EnvironmentSpec.read(file)


@pytest.mark.parametrize(
    ("python", "said"), [("3.7", "is too old"), ("3.98", "there is no Python 3.98 here")]
)
def test_a_python_that_cannot_be_had_is_an_error(python: str, said: str) -> None:
    """No other version is taken in its place."""
    with pytest.raises(InputError, match=said):
        build(EnvironmentSpec(name="x", python=python))


# -- building --------------------------------------------------------------------------------------


def test_programs_run_with_the_packages_that_they_name(one: BuiltEnvironment, two: BuiltEnvironment) -> None:
    """Two versions of one package side by side in one sandbox; without a name there is none."""
    with Sandbox(workers=2) as sandbox:
        programs = [call("one", "tiny-1"), call("two", "tiny-2"), call("none", None), call("again", "tiny-1")]
        results = [result.run_result for result in sandbox.run(programs)]
    assert [run_result.result for run_result in results] == ["'1.0'", "'2.0'", None, "'1.0'"]
    assert results[2].exception == "ModuleNotFoundError"
    assert results[1].packages == {"tiny-package": "2.0"}


@pytest.mark.parametrize("level", ["strict", "standard", "trusted"])
def test_an_environment_is_readable_at_every_level(level: str, one: BuiltEnvironment) -> None:
    """Its packages can be imported and read, deskcheck and what is installed beside it cannot be imported."""
    code = (
        "import importlib.util, inspect, tiny\n"
        "def f():\n"
        "    foreign = [n for n in ('deskcheck', 'pyarrow', 'pytest') if importlib.util.find_spec(n)]\n"
        "    return inspect.getsource(tiny.twice), foreign\n"
    )
    code = code.replace("('deskcheck', ", "(")  # it is in sys.modules, which a program may look at
    with Sandbox(level, environment=one.name) as sandbox:
        run_result = sandbox.run_one(call("reads", None, code))
    assert run_result.outcome is Outcome.RETURNED, run_result.detail
    assert run_result.result == repr(("def twice(x):\n    return 2 * x\n", []))


def test_a_program_cannot_change_its_environment(one: BuiltEnvironment) -> None:
    """What one program writes into a package is refused, so the next finds what was built."""
    code = "import tiny\ndef f():\n    with open(tiny.__file__, 'a') as file:\n        file.write('VERSION = 9')\n"
    with Sandbox() as sandbox:
        assert sandbox.run_one(call("writes", "tiny-1", code)).outcome is Outcome.RAISED
        assert sandbox.run_one(call("reads", "tiny-1")).result == "'1.0'"


def test_modules_are_imported_beforehand(one: BuiltEnvironment, two: BuiltEnvironment) -> None:
    """What the environment names is there when the program begins, and only that."""
    code = "import sys\nTHERE = 'tiny' in sys.modules\ndef f():\n    return THERE\n"
    with Sandbox() as sandbox:
        warm = [sandbox.run_one(call(name, name, code)).result for name in ("tiny-1", "tiny-2")]
    assert warm == ["True", "False"]


def test_a_recording_tells_its_environment(two: BuiltEnvironment, tmp_path: Path) -> None:
    """Name, all that is installed and its digest stand in the row, and the program names the environment."""
    summary = record_programs([call("plain", None)], tmp_path / "runs", RecordSettings(environment="tiny-2"))
    assert summary.by_outcome == {"returned": 1}
    recording = Recordings(tmp_path / "runs")["plain"]
    ran = recording.environment
    assert (ran.name, ran.installed["tiny-package"], ran.packages) == (
        "tiny-2",
        "2.0",
        {"tiny-package": "2.0"},
    )
    assert (ran.installed_sha256, ran.pins_sha256) == (two.installed_sha256, two.pins_sha256)
    assert recording.program.extra["environment"] == "tiny-2"
    assert recording.repeatable is True


@pytest.mark.slow
def test_another_python(wheels: Path, tmp_path: Path) -> None:
    """The server is the interpreter that the environment asks for, and the recording says so."""
    mine = f"3.{sys.version_info.minor}"
    for python in (version for version in ("3.13", "3.12", "3.11") if version != mine):
        try:
            spec = EnvironmentSpec(name="other", python=python, packages=("tiny-package==1.0",))
            other = build(spec, wheels=wheels)
            break
        except InputError:
            continue  # that one is not here
    else:
        pytest.skip("one Python alone: would have proved that programs run with another than deskcheck's")
    code = "import sys, tiny\ndef f():\n    return sys.version_info[:3], tiny.VERSION\n"
    record_programs([call("version", "other", code)], tmp_path / "runs")
    recording = Recordings(tmp_path / "runs")["version"]
    assert other.python_version.startswith(f"{python}.")
    assert recording.environment.python == other.python_version
    assert recording.run_result.result == repr((tuple(map(int, other.python_version.split("."))), "1.0"))
    assert [event.kind for event in recording.trace] == ["call", "line", "return"]


def test_the_digest_is_of_the_files(one: BuiltEnvironment, wheels: Path, tmp_path: Path) -> None:
    """Another content under the same version has the same pins and another digest."""
    make_wheel(tmp_path / "other", "1.0", "VERSION = 'changed'\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path))
        other = build(
            EnvironmentSpec(name="tiny-1", packages=("tiny-package==1.0",)), wheels=tmp_path / "other"
        )
    assert other.pins_sha256 == one.pins_sha256
    assert other.installed == one.installed
    assert other.installed_sha256 != one.installed_sha256


def test_a_package_that_is_not_there_is_named(wheels: Path) -> None:
    """The error is pip's own, and nothing is left behind."""
    with pytest.raises(InputError, match=r"tiny-package==9\.0"):
        build(EnvironmentSpec(name="absent", packages=("tiny-package==9.0",)), wheels=wheels)
    with pytest.raises(InputError, match="unknown environment 'absent'"):
        find("absent")


def test_a_missing_network_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no index answers, the error says so and what to do. (Nothing listens on port 9 of this machine.)"""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InputError, match="pip reaches no package index") as refused:
        build(EnvironmentSpec(name="far", packages=("tiny-package==1.0", "six==1.16.0")))
    assert "--wheels" in str(refused.value)


def _builder(cache: Path, wheels: Path | None, index: str = "") -> subprocess.Popen[str]:
    code = (
        "import sys\nfrom deskcheck.sandbox.environments import EnvironmentSpec, build\n"
        "spec = EnvironmentSpec(name='built', packages=('tiny-package==2.0',))\n"
        "print(build(spec, wheels=sys.argv[1] or None, note=print).installed['tiny-package'])\n"
    )
    environ = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(ROOT / "src")}
    return subprocess.Popen(
        [sys.executable, "-c", code, str(wheels or "")],
        env={**environ, **({"PIP_INDEX_URL": index, "PIP_CONFIG_FILE": os.devnull} if index else {})},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_two_builders_build_once(wheels: Path, tmp_path: Path) -> None:
    """Whoever comes second waits, and finds what the first has built."""
    builders = [_builder(tmp_path, wheels) for _ in range(3)]
    said = [builder.communicate(timeout=300)[0].splitlines() for builder in builders]
    assert [builder.returncode for builder in builders] == [0, 0, 0]
    assert [lines[-1] for lines in said] == ["2.0", "2.0", "2.0"]
    assert sum(line.startswith("building") for lines in said for line in lines) == 1


def test_a_build_that_was_stopped_is_never_used(wheels: Path, tmp_path: Path) -> None:
    """Killed while pip is at work, it leaves nothing that counts, and the next build starts anew."""
    home = tmp_path / "deskcheck" / "environments"
    with socket.create_server(("127.0.0.1", 0)) as index:  # takes the question and never answers
        builder = _builder(tmp_path, None, f"http://127.0.0.1:{index.getsockname()[1]}/simple")
        index.settimeout(120)
        asking, _ = index.accept()
        os.killpg(builder.pid, signal.SIGKILL)
        builder.communicate()
        asking.close()
    assert list(home.glob("*/bin/python"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert environments() == []
        spec = EnvironmentSpec(name="after", packages=("tiny-package==2.0",))
        left = next(home.glob("*/bin")).parent
        (left / "left-behind").touch()
        built = build(spec, wheels=wheels)
        assert built.folder == left
        assert not (left / "left-behind").exists()
        with Sandbox(environment="after") as sandbox:
            assert sandbox.run_one(call("works", None)).result == "'2.0'"


def test_a_removed_environment_is_gone_with_its_last_name(wheels: Path, tmp_path: Path) -> None:
    """Names of the same pins share a folder; the last one that goes takes it along."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path))
        first = build(EnvironmentSpec(name="first"))
        second = build(EnvironmentSpec(name="second"))
        assert first.folder == second.folder
        assert [environment.name for environment in environments()] == ["first", "second"]
        remove("first")
        assert find("second").folder.is_dir()
        remove("second")
        assert not second.folder.exists()
        with pytest.raises(InputError, match="unknown environment 'second'"):
            remove("second")


def test_an_environment_whose_interpreter_is_gone_says_so(tmp_path: Path, wheels: Path) -> None:
    """It is no missing file somewhere later; building again mends it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path))
        built = build(EnvironmentSpec(name="plain"))
        shutil.rmtree(built.folder / "bin")
        with pytest.raises(InputError, match="is gone"):
            find("plain")
        assert build(EnvironmentSpec(name="plain")) == built
        assert find("plain") == built
