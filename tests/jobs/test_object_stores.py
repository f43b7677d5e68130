"""What docs/guides/object-stores.md shows: a job's folder is copied to another place while it runs, and goes on there."""

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deskcheck.jobs.status import status
from tests.command import deskcheck
from tests.jobs.same import digests

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "object-stores.md").read_text(encoding="utf-8")
JOB = ("record", "generated:60,inputs=1,difficulty=1", "--shards", "5", "--no-repeat", "--sandbox", "trusted")


@pytest.mark.slow
def test_a_copy_of_a_running_job_goes_on(tmp_path: Path) -> None:
    """The page's own function takes it away in the middle; the copy ends as a job that nothing happened to."""
    pytest.importorskip(
        "fsspec", reason="would have proved that the function of the page copies a running job"
    )
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    function, _, _ = block.partition('copy_job("')
    found: dict[str, object] = {}
    exec(function, found)
    running = subprocess.Popen(
        [sys.executable, "-m", "deskcheck", *JOB, "--out", "runs"], cwd=tmp_path, stderr=subprocess.DEVNULL
    )
    while not (tmp_path / "runs" / "manifest.jsonl").exists() and running.poll() is None:
        time.sleep(0.01)
    found["copy_job"](str(tmp_path / "runs"), f"file://{tmp_path}/copy")  # type: ignore[operator]
    running.wait()
    assert (tmp_path / "copy" / "manifest.jsonl").exists()
    assert not (tmp_path / "copy" / ".lock").exists()
    done = deskcheck(*JOB, "--out", "copy", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert status(tmp_path / "copy").whole
    assert digests(tmp_path / "copy") == digests(tmp_path / "runs")


def test_a_place_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    """Every command says where the copying is shown, and shows no key of the URL."""
    for url in ("s3://bucket/runs", "s3://key:secret@bucket/runs?token=secret", "--out=gs://bucket/runs"):
        ran = deskcheck("record", "heapq", "--out", url, cwd=tmp_path)
        assert ran.returncode == 2
        assert "docs/guides/object-stores.md" in ran.stderr
        assert "secret" not in ran.stderr
    assert not [*tmp_path.iterdir()]


@pytest.mark.exhaustive
@pytest.mark.skipif(
    not shutil.which("aws"),
    reason="would have proved the page's commands of the AWS command line against moto",
)
def test_the_commands_of_aws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There and back, against a server of S3 on this machine."""
    server = pytest.importorskip(
        "moto.server", reason="would have proved the page's commands of AWS"
    ).ThreadedMotoServer(port=0)
    server.start()
    try:
        host, port = server.get_host_and_port()
        for name, value in {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
            "AWS_ACCESS_KEY_ID": "a",
            "AWS_SECRET_ACCESS_KEY": "b",
            "AWS_DEFAULT_REGION": "us-east-1",
        }.items():
            monkeypatch.setenv(name, value)
        (there, back) = re.findall(r"(?m)(?:^    (?:cp|aws) .*\n)+", PAGE)[:2]
        assert deskcheck(*JOB, "--out", "runs/big", cwd=tmp_path).returncode == 0
        script = f"aws s3 mb s3://bucket\n{there}mv runs/big before\n{back}"
        subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
        assert digests(tmp_path / "runs" / "big") == digests(tmp_path / "before")
    finally:
        server.stop()
