"""What docs/guides/kubernetes.md shows, as far as one machine can: no cluster and no container runtime, but the kernel's own
parts of a container, which are the user, capabilities, the filter, and a process namespace of its own."""

import json
import os
import re
import signal
import subprocess
import sysconfig
import time
from pathlib import Path
from typing import Any

import pytest

from deskcheck.jobs.status import status
from deskcheck.sandbox.linux.processes import children
from tests.circumstances import ROOT, as_container, as_nobody, let_all_read
from tests.jobs.same import digests

FILES = ROOT / "examples" / "cluster"
PROFILE = FILES / "seccomp.json"
PAGE = ROOT / "docs" / "guides" / "kubernetes.md"
REFUSALS = f"""
import json, sys
sys.path.insert(0, {str(ROOT / "src")!r})
from deskcheck.sandbox.layers import refusals
print(json.dumps(refusals()))
"""
VARIABLES = {
    "PATH": os.defpath,
    "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src"), sysconfig.get_path("purelib")]),
    "PYTHONDONTWRITEBYTECODE": "1",
}


def manifests() -> dict[str, dict[str, Any]]:
    """Those of job.yaml, by kind."""
    yaml = pytest.importorskip("yaml", reason="PyYAML: would have proved that the Job is what the page says")
    return {one["kind"]: one for one in yaml.safe_load_all((FILES / "job.yaml").read_text())}


def in_container(profile: str, user: list[str], *command: str) -> list[str]:
    """A command for the user's interpreter, under a filter."""
    return [*user, "-m", "tests.cluster.container", profile, user[-1], *command]


def refusals(profile: str, user: list[str]) -> dict[str, str]:
    ran = subprocess.run(
        in_container(profile, user, "-c", REFUSALS),
        env=VARIABLES,
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    found: dict[str, str] = json.loads(ran.stdout)
    return found


USERS = [pytest.param(as_nobody, id="user"), pytest.param(as_container, id="root", marks=pytest.mark.slow)]


@pytest.mark.parametrize("user", USERS)
@pytest.mark.level("strict")
def test_the_usual_filter_leaves_standard_and_ours_gives_strict(user: Any) -> None:
    """Under the filter that runtimes bring, `doctor` says of `strict` what the page says; under ours, that all levels
    can be had: for the Job's ordinary user without capabilities, and for a container's root."""
    usual = refusals("usual", user())
    assert usual["standard"] == usual["trusted"] == ""
    said = " ".join(usual["strict"].split())
    page = " ".join(PAGE.read_text().split())
    for sentence in ("unshare: Operation not permitted", said.partition("Missing: ")[2]):
        assert sentence, said
        assert sentence in page
    assert set(refusals(str(PROFILE), user()).values()) == {""}


def test_the_profile_names_no_call_twice_and_none_that_we_do_not_know() -> None:
    """A name that is misspelt would be refused on a node, and nobody would be told."""
    from tests.cluster.container import _NUMBERS, compiled

    profile = json.loads(PROFILE.read_text())
    rules = profile["syscalls"]
    assert all(rule["action"] == "SCMP_ACT_ALLOW" for rule in rules)
    plain = [name for rule in rules if "args" not in rule for name in rule["names"]]
    some = {name for rule in rules if "args" in rule for name in rule["names"]}
    assert len(plain) == len(set(plain))
    assert not some & set(plain)
    assert {*plain, *some} <= _NUMBERS.keys()
    assert not {"bpf", "ptrace", "keyctl", "init_module", "io_uring_setup", "setns", "kexec_load"} & set(
        plain
    )
    assert len(compiled(profile)) // 8 < 4096  # BPF_MAXINSNS


def test_the_job_is_what_kubernetes_takes() -> None:
    """Against the schema of its interface, of several versions, with no key that it does not know."""
    validator = pytest.importorskip(
        "kubernetes_validate",
        reason="kubernetes-validate: would have proved that the manifest has no wrong key",
    )
    found = manifests()
    for version in ("1.31", "1.34", "1.37"):
        for manifest in found.values():
            validator.validate(manifest, version, strict=True)


def test_the_job_asks_for_what_the_page_says() -> None:
    """No privilege at all, the filter's file, and a folder that outlives the pod."""
    pod = manifests()["Job"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    profile = pod["securityContext"]["seccompProfile"]["localhostProfile"]
    assert profile == f"deskcheck/{PROFILE.name}"
    assert f"/var/lib/kubelet/seccomp/{profile}" in PAGE.read_text()
    (out,) = (one.partition("=")[2] for one in container["args"] if one.startswith("--out="))
    mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
    claims = {volume["name"] for volume in pod["volumes"] if "persistentVolumeClaim" in volume}
    assert mounts[str(Path(out).parent)] in claims


def small(arguments: list[str], runs: Path) -> list[str]:
    """The Job's arguments, with fewer and smaller programs and a folder that is here."""
    swapped = {
        "generated:200000": "generated:60,inputs=1,difficulty=1",
        "--shards=500": "--shards=5",
        "--workers=8": "--workers=2",
        "--out=/runs/big": f"--out={runs}",
    }
    assert swapped.keys() <= set(arguments)
    return [*(swapped.get(one, one) for one in arguments), "--no-repeat"]


@pytest.mark.exhaustive
@pytest.mark.level("strict")
def test_a_pod_that_is_ended_is_followed_by_one_that_goes_on(tmp_path: Path) -> None:
    """The Job's arguments, as process 1 of its namespace, without capabilities, under our filter: SIGTERM ends it with
    143, and the next one's recordings are those of a job that nothing happened to."""
    user = as_nobody()
    if os.geteuid() != 0:
        pytest.skip("not root: would have proved that `record` is well as the first process of a container")
    tried = subprocess.run(
        [*user, "-c", "import pyarrow, typer"], env=VARIABLES, capture_output=True, check=False
    )
    if tried.returncode:
        pytest.skip(
            "no interpreter that all may run fits the packages here: would have proved that a pod goes on"
        )
    let_all_read(tmp_path)
    arguments = manifests()["Job"]["spec"]["template"]["spec"]["containers"][0]["args"]

    def start(runs: Path) -> "subprocess.Popen[bytes]":
        runs.mkdir(exist_ok=True)
        runs.chmod(0o777)
        command = in_container(str(PROFILE), user, "-m", "deskcheck", *small(arguments, runs))
        return subprocess.Popen(
            ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", *command],
            cwd=tmp_path,
            env=VARIABLES,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    runs = tmp_path / "runs"
    with start(runs) as pod:
        while not (runs / "manifest.jsonl").exists() and pod.poll() is None:
            time.sleep(0.01)
        (first,) = children(pod.pid)
        os.kill(first, signal.SIGTERM)
        _, said = pod.communicate()
    assert pod.returncode == 143, said
    assert 0 < status(runs).totals.programs < 60
    for folder in (runs, tmp_path / "undisturbed"):
        with start(folder) as pod:
            _, said = pod.communicate()
        assert pod.returncode == 0, said
        assert status(folder).whole
    assert digests(runs) == digests(tmp_path / "undisturbed")
    assert len(digests(runs)) == 60


def test_what_the_image_is_made_of_is_there() -> None:
    """Each file that the Dockerfile copies from the checkout is in it, and so is each that the page links to."""
    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", (FILES / "Dockerfile").read_text(), re.MULTILINE)
    assert copied
    assert [name for line in copied for name in line.split() if not (ROOT / name).exists()] == []
    for path in re.findall(r"\]\(([^)#:]+)\)", PAGE.read_text()):
        assert (ROOT / "docs" / "guides" / path).exists(), path
