"""deskcheck as a sandbox of Inspect AI: Inspect's own contract, a real evaluation, and hostile commands."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="would have proved that Inspect AI's benchmarks run in our sandbox")

import anyio
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import get_model
from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer
from inspect_ai.solver import TaskState
from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxEnvironmentSpec,
    SandboxUnavailableError,
    SandboxUserUnsupportedError,
    override_sandbox_output_limit,
    sandbox,
)
from inspect_ai.util._sandbox import self_check

from deskcheck.ask.inspect.provider import count_offline
from deskcheck.ask.inspect.sandbox import DeskcheckSandboxConfig, DeskcheckSandboxEnvironment
from deskcheck.recording import InputError
from deskcheck.sandbox.limits import Limits
from deskcheck.sandbox.workspace import Workspace
from tests.sample import some, spread

LEVELS = ("strict", "standard")
_CLOSING = ("test_write_text_file_without_permissions", "test_write_binary_file_without_permissions")
NOT_HERE = {
    "strict": {"test_exec_as_user": "a workspace has one user"},
    "standard": {
        "test_exec_as_user": "a workspace has one user",
        "test_read_file_not_allowed": "modes cannot be changed, or root's right to read is kept for the interpreter",
        **({} if os.geteuid() == 0 else dict.fromkeys(_CLOSING, "modes cannot be changed")),
        "test_read_and_write_file_including_directory_absolute": "the machine's /tmp is out of reach",
        "test_write_text_file_is_directory": "the machine's /tmp is out of reach",
        "test_write_binary_file_is_directory": "the machine's /tmp is out of reach",
        "test_cwd_absolute": "the machine's /tmp is out of reach",
    },
}
"""What of Inspect's contract a level does not give, and why. Each of them must fail."""
SMALL = Limits(cpu_s=5, wall_s=20, memory_bytes=512 << 20, processes=64)

# One workspace of each level serves the tests that a worker runs.


@pytest.fixture(scope="module", params=spread(LEVELS, 2))
def workspace(request: pytest.FixtureRequest) -> Iterator[Workspace]:
    with Workspace(request.param, limits=Limits(cpu_s=60, wall_s=120)) as place:
        yield place


def in_sandbox(workspace: Workspace, do: Callable[[DeskcheckSandboxEnvironment], Any]) -> Any:
    """What an async function gives of the sandbox, in an event loop of its own."""

    async def main() -> Any:
        return await do(DeskcheckSandboxEnvironment(workspace))

    return anyio.run(main)


def run(workspace: Workspace, *cmd: str, **how: Any) -> ExecResult[str]:
    result: ExecResult[str] = in_sandbox(workspace, lambda place: place.exec(list(cmd), **how))
    return result


@pytest.mark.slow
@pytest.mark.parametrize("name", some(self_check.__all__, *self_check.__all__[::4]))
def test_inspects_own_contract(name: str, workspace: Workspace) -> None:
    """Every check that Inspect has for a provider passes, but for those that `NOT_HERE` explains."""
    check = getattr(self_check, name)
    if name not in NOT_HERE[workspace.level]:
        in_sandbox(workspace, check)
        return
    if name == "test_read_file_not_allowed" and os.geteuid() == 0:
        pytest.skip("depends on where the interpreter lies: would have proved that files can be closed")
    with pytest.raises((AssertionError, PermissionError, SandboxUserUnsupportedError)):
        in_sandbox(workspace, check)


def test_what_a_command_does_is_told(workspace: Workspace) -> None:
    """Status, output, input, folder and environment, text and bytes."""
    code = "import os, sys; print(sys.stdin.read(), os.environ['NAME'], os.path.basename(os.getcwd())); sys.exit(3)"
    in_sandbox(workspace, lambda place: place.write_file("sub/x", b"\xff"))
    done = run(workspace, "python", "-c", code, input="typed", env={"NAME": "value"}, cwd="sub")
    assert (done.success, done.returncode, done.stdout, done.stderr) == (False, 3, "typed value sub\n", "")
    assert in_sandbox(workspace, lambda place: place.read_file("sub/x", text=False)) == b"\xff"
    with pytest.raises(UnicodeDecodeError):
        in_sandbox(workspace, lambda place: place.read_file("sub/x"))


def test_what_cannot_be_started_is_a_failed_command(workspace: Workspace) -> None:
    """As a shell says it: 127 for what is not there, and the folder that is not there by its name."""
    done = run(workspace, "no-such-command")
    assert (done.returncode, done.stderr) == (127, "no-such-command: No such file or directory\n")
    done = run(workspace, "true", cwd="nowhere")
    assert (done.returncode, "nowhere" in done.stderr) == (127, True)


def test_time_and_output_have_limits(workspace: Workspace) -> None:
    """Each is the exception that Inspect names, and what was written is in it."""
    with pytest.raises(TimeoutError, match="1 s of wall time"):
        run(workspace, "sleep", "30", timeout=1)
    with override_sandbox_output_limit(1024), pytest.raises(OutputLimitExceededError) as refused:
        run(workspace, "yes")
    assert refused.value.truncated_output == "y\n" * 512
    assert "1 KiB" in str(refused.value)


@pytest.mark.slow
def test_an_interrupted_command_is_ended(workspace: Workspace) -> None:
    """Where Inspect gives up a sample, its command does not go on, and the workspace still works."""

    async def given_up(place: DeskcheckSandboxEnvironment) -> str:
        with anyio.move_on_after(0.5):
            await place.exec(["sh", "-c", "sleep 2; touch went-on"])
        await anyio.sleep(2.5)
        return (await place.exec(["ls"])).stdout

    assert "went-on" not in in_sandbox(workspace, given_up)


def test_nothing_else_can_be_asked_for(workspace: Workspace) -> None:
    """Another user and a connection from outside are refused in the words that Inspect knows."""
    with pytest.raises(SandboxUserUnsupportedError, match="root"):
        run(workspace, "true", user="root")
    assert run(workspace, "true", user="sandbox").success
    with pytest.raises(NotImplementedError, match="no way in"):
        in_sandbox(workspace, lambda place: place.connection())


def test_a_workspace_that_is_gone_is_unavailable() -> None:
    """It is the sandbox that failed, and not the command."""
    with Workspace("trusted") as place:
        pass
    with pytest.raises(SandboxUnavailableError, match="closed"):
        run(place, "true")


# -- in an evaluation ------------------------------------------------------------------------------

REFERENCE = "def add(a, b):\n    return a + b\n"
ANSWERS = {
    "right": (REFERENCE, 1),
    "wrong": ("def add(a, b):\n    return a - b\n", 0),
    "endless": ("while True: pass\n", 0),
    "reads outside": ("print(open({secret!r}).read())\n" + REFERENCE, 0),
    "connects": ("import socket\nsocket.create_connection(('127.0.0.1', {port}), 2)\n" + REFERENCE, 0),
    "forks without end": ("import os\nwhile True: os.fork()\n", 0),
    "fills memory": ("x = [b'1' * (1 << 30) for _ in range(9)]\n" + REFERENCE, 0),
    "floods": ("while True: print('x' * 1000)\n", 0),
}


@scorer(metrics=[accuracy()])
def passes() -> Scorer:
    """What Inspect's own code benchmarks do: write answer and test into one program, and run it."""

    async def score(state: TaskState, target: Target) -> Score:
        code = f"{state.output.completion}\n{target.text}"
        try:
            done = await sandbox().exec(cmd=["python", "-c", code], timeout=5)
        except (TimeoutError, OutputLimitExceededError) as stopped:
            return Score(value=0, explanation=str(stopped))
        return Score(value=int(done.success), explanation=done.stderr[-500:])

    return score


def evaluate(task: Task, answers: list[str], tmp_path: Path) -> EvalLog:
    model = get_model("mockllm/model", custom_outputs=_outputs(answers))
    count_offline(model)
    (log,) = inspect_eval(
        task,
        model=model,
        log_dir=str(tmp_path),
        display="none",
        max_connections=1,
        max_samples=1,
        max_sandboxes=1,
    )
    return log


def _outputs(answers: list[str]) -> Any:
    from inspect_ai.model import ModelOutput

    return [ModelOutput.from_content("mockllm/model", answer) for answer in answers]


@pytest.mark.slow
def test_an_evaluation_scores_right_answers_and_stops_hostile_ones(tmp_path: Path) -> None:
    """The sandbox is found by its name; each answer gets its score, and none reaches what lies outside."""
    (tmp_path / "secret").write_text("the secret")
    heard = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def listen() -> None:
            try:
                server.accept()
            except OSError:
                return  # closed: nobody came
            heard.set()

        threading.Thread(target=listen, daemon=True).start()
        answers = [
            text.replace("{secret!r}", repr(str(tmp_path / "secret"))).replace("{port}", str(port))
            for text, _ in ANSWERS.values()
        ]
        samples = [Sample(id=name, input="add", target="assert add(2, 3) == 5") for name in ANSWERS]
        config = DeskcheckSandboxConfig(limits=SMALL)
        task = Task(dataset=samples, scorer=passes(), sandbox=SandboxEnvironmentSpec("deskcheck", config))
        log = evaluate(task, answers, tmp_path / "logs")
        server.shutdown(socket.SHUT_RDWR)
    assert log.status == "success", log.error
    assert log.samples is not None
    scores = {sample.id: sample.scores["passes"] for sample in log.samples if sample.scores}
    assert {name: score.value for name, score in scores.items()} == {
        name: value for name, (_, value) in ANSWERS.items()
    }
    assert not heard.is_set()
    assert "the secret" not in str(scores["reads outside"].explanation)


def test_files_and_setup_of_a_sample_are_there(tmp_path: Path) -> None:
    """Inspect writes a sample's files and runs its setup script before anything else."""
    sample = Sample(
        id="files",
        input="?",
        target="assert open('given.txt').read() == 'given' and open('made.txt').read() == 'made\\n'",
        files={"given.txt": "given"},
        setup="echo made > made.txt",
    )
    task = Task(dataset=[sample], scorer=passes(), sandbox="deskcheck")
    log = evaluate(task, ["import os"], tmp_path / "logs")
    assert log.status == "success", log.error
    assert log.samples is not None
    assert log.samples[0].scores is not None
    assert log.samples[0].scores["passes"].value == 1, log.samples[0].scores


def test_a_configuration_is_checked(tmp_path: Path) -> None:
    """A level, a TOML file or fields; anything else is refused and says what there is."""
    from deskcheck.ask.inspect.sandbox import _config

    (tmp_path / "box.toml").write_text('level = "standard"\nscratch_bytes = 5\n[limits]\ncpu_s = 2.5\n')
    read = _config(str(tmp_path / "box.toml"))
    assert (read.level, read.scratch_bytes, read.limits) == ("standard", 5, Limits(cpu_s=2.5))
    assert _config("/anywhere/trusted").level == "trusted"
    assert _config(None).level == "strict"
    spec = SandboxEnvironmentSpec.model_validate({"type": "deskcheck", "config": {"level": "standard"}})
    assert spec.config == DeskcheckSandboxConfig(level=read.level)
    (tmp_path / "bad.toml").write_text("lvel = 1\n")
    for bad, said in ((str(tmp_path / "bad.toml"), "lvel"), ("loose", "is neither a level")):
        with pytest.raises(InputError, match=said):
            _config(bad)
