"""What a program finds beside its file: modules and data, and not what its user would not hand over."""

import json
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskcheck.recording import Outcome, Program
from deskcheck.sandbox import Confinement, Limits, Sandbox
from deskcheck.sandbox.inside.readable_files import is_private, look
from deskcheck.sandbox.linux.root import outermost

READER = """\
import json, os, sys
def attempt(path):
    try:
        with open(path) as stream:
            return stream.read()
    except OSError as error:
        return type(error).__name__
found = {}
for path in json.loads(PATHS):
    found[path] = attempt(path)
try:
    import beside.inner, helper
    found["import"] = [beside.inner.NAME, helper.NAME]
except ImportError as error:
    found["import"] = str(error)
found["listed"] = sorted(os.listdir(FOLDER))
print(json.dumps(found))
"""

SECRETS = {
    ".env": "KEY=hidden",
    ".git/config": "hidden",
    "sub/.env": "hidden",
    "sub/deep/.netrc": "hidden",
    "server.pem": "hidden",
    "prod.env": "hidden",
    "id_rsa": "hidden",
    "client_secret.json": "hidden",
    "secrets/all.txt": "hidden",
    "secrets.py": "hidden",
}
GIVEN = {
    "data.txt": "data",
    "sub/data.txt": "in sub",
    "sub/deep/data.txt": "deep",
    "whole/a.txt": "a",
    "tokenizer.json": "{}",
    "keys.csv": "a,b",
}


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    outside = tmp_path / "outside"
    folder = tmp_path / "project"
    texts = {**SECRETS, **GIVEN, "helper.py": "NAME = 'helper'\n", "beside/__init__.py": ""}
    texts["beside/inner.py"] = "NAME = 'inner'\n"
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    outside.mkdir()
    (outside / "private.txt").write_text("hidden")
    (folder / "out.txt").symlink_to(outside / "private.txt")
    (folder / "outdir").symlink_to(outside)
    (folder / "to_env").symlink_to(folder / ".env")
    (folder / "to_sub").symlink_to("sub")
    (folder / "to_data").symlink_to("sub/data.txt")
    (folder / "whole" / "up").symlink_to("../..")
    for path in (*tmp_path.parents, tmp_path, *tmp_path.rglob("*")):
        if path.is_dir() and not path.is_symlink() and os.stat(path).st_uid == os.getuid():
            path.chmod(path.stat().st_mode | 0o055)
    with socket.socket(socket.AF_UNIX) as door:
        here = os.getcwd()
        os.chdir(folder)
        try:
            door.bind("door")
        finally:
            os.chdir(here)
        yield folder


@pytest.mark.parametrize("level", [Confinement.STRICT, Confinement.STANDARD])
def test_a_program_reads_its_folder_without_what_is_private(project: Path, level: Confinement) -> None:
    """Data and modules are found by relative and by whole paths; hidden files, keys, and what lies outside,
    also through links and ``..``, are not."""
    hidden = [
        *SECRETS,
        "out.txt",
        "outdir/private.txt",
        "to_env",
        "to_sub/.env",
        "whole/up/outside/private.txt",
        "../outside/private.txt",
        "sub/../.env",
    ]
    given = {**GIVEN, "to_data": "in sub", "to_sub/data.txt": "in sub", "to_sub/deep/data.txt": "deep"}
    asked = [*(f"{project}/{name}" for name in (*hidden, *given)), *hidden, *given]
    code = READER.replace("PATHS", repr(json.dumps(asked))).replace("FOLDER", repr(str(project)))
    with Sandbox(level, limits=Limits(cpu_s=5)) as sandbox:
        run_result = sandbox.run_one(Program(id="p", code=code, path=str(project)))
    assert run_result.outcome is Outcome.RETURNED, run_result.stderr
    found = json.loads(run_result.stdout)
    assert "hidden" not in "".join(found[path] for path in asked)
    for name, text in given.items():
        assert (found[name], found[f"{project}/{name}"]) == (text, text), name
    assert found["import"] == ["inner", "helper"]
    assert {"data.txt", "sub", "helper.py"} <= set(found["listed"])


def test_a_folder_without_anything_private_is_given_whole(tmp_path: Path) -> None:
    """So a large one costs nothing; one that holds too much to be looked through gives what was seen."""
    for name in ("a.txt", "sub/b.txt", "sub/deep/c.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = look(str(tmp_path))
    assert (found.readable, found.listed, found.left_out) == ([str(tmp_path)], [], [])
    (tmp_path / "sub" / ".env").touch()
    found = look(str(tmp_path))
    assert sorted(os.path.relpath(p, tmp_path) for p in found.readable) == ["a.txt", "sub/b.txt", "sub/deep"]
    assert sorted(os.path.relpath(p, tmp_path) for p in found.listed) == [".", "sub"]
    assert [os.path.relpath(p, tmp_path) for p in found.left_out] == ["sub/.env"]
    assert [os.path.relpath(p, tmp_path) for p in look(str(tmp_path), max_entries=1).readable] == ["a.txt"]
    assert look(str(tmp_path / "none")).readable == []


def test_names_tell_what_is_private() -> None:
    """Hidden, a key, a secret; but not what only sounds like it."""
    private = (
        ".env .git .netrc a.pem A.KEY x.p12 prod.env app.env.local env id_ed25519 id_rsa my-secrets.yaml "
    )
    private += (
        "credentials.json passwords.txt api_key.txt service-account.json secrets credentials secrets.py"
    )
    given = "data.csv monkey.txt keys.csv tokenizer.json environment.yml key.py secret_santa.py rsa.py "
    given += (
        "passage.txt compass.txt tokens.txt a.keyboard authors.csv _native.cpython-311-x86_64-linux-gnu.so"
    )
    assert [name for name in private.split() if not is_private(name)] == []
    assert [name for name in given.split() if is_private(name)] == []


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(st.sampled_from(["a", "a-b", "a b", "b", "é"]), max_size=4)))
def test_what_lies_under_another_path_is_not_given_twice(names: list[list[str]]) -> None:
    """`pathlib` says which paths those are; ``/a-b`` does not lie in ``/a``."""
    paths = {"/" + "/".join(parts) for parts in names}
    expected = {each for each in paths if not {*map(str, PurePosixPath(each).parents)} & (paths - {each})}
    assert outermost(paths) == sorted(expected)


def test_a_folder_of_many_files_beside_a_private_one_takes_no_minutes() -> None:
    """Each of its files is given by itself, since the folder may not be: the work grows with their number,
    not with its square."""
    began = time.process_time()
    assert len(outermost(f"/data/{number}.png" for number in range(50_000))) == 50_000
    assert time.process_time() - began < 10
