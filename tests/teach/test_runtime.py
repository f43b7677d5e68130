"""Without torch a model gives what it gives with it."""

import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from deskcheck.recording import InputError

WHY = "would have proved that a model without torch gives what it gives with it"
torch = pytest.importorskip("torch", reason=f"no torch: {WHY}")
pytest.importorskip("onnx", reason=f"no onnx: {WHY}")
pytest.importorskip("onnxscript", reason=f"no onnxscript: {WHY}")
pytest.importorskip("onnxruntime", reason=f"no ONNX Runtime: {WHY}")

import deskcheck.teach.small.runtime as runtime  # noqa: E402
from deskcheck.teach.lessons.tokens import Bytes  # noqa: E402
from deskcheck.teach.small.export import export  # noqa: E402
from deskcheck.teach.small.interpreter import ModelRows  # noqa: E402
from deskcheck.teach.small.model import Model, ModelConfig  # noqa: E402
from deskcheck.teach.small.networks import TorchNetwork  # noqa: E402
from deskcheck.teach.small.runtime import OnnxNetwork  # noqa: E402


@pytest.fixture(scope="module", params=[0, 3], ids=["alone", "shift"])
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[TorchNetwork, OnnxNetwork]:
    torch.manual_seed(0)
    config = ModelConfig(
        vocab_size=Bytes.size,
        layers=2,
        hidden_size=32,
        heads=2,
        intermediate_size=48,
        shift_tokens=request.param,
    )
    model = Model(config)
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(4 if weight.dim() == 2 else 1)
            weight.copy_(weight.half().float())  # as it is kept in the file
    file = tmp_path_factory.mktemp("graph") / "model.onnx"
    export(model, {"config": asdict(config), "step": 7}, file)
    return TorchNetwork(model), OnnxNetwork(file, threads=1)


@pytest.mark.parametrize(("rows", "length", "size"), [(1, 1, 0), (3, 4, 5), (5, 17, 0), (2, 1, 30)])
def test_graph_computes_what_the_model_does(
    both: tuple[TorchNetwork, OnnxNetwork], rows: int, length: int, size: int
) -> None:
    draw = np.random.default_rng(rows)
    shift = both[0].shift_tokens
    tokens = draw.integers(0, 256, (rows, shift + length))
    tokens[::2, :shift] = -1
    keys, values = (
        [draw.normal(size=(rows, 2, size, 16)).astype(np.float32) for _ in range(2)] for _ in range(2)
    )
    lengths = draw.integers(0, size + 1, rows)
    one, other = (network.run(tokens, keys, values, lengths) for network in both)
    np.testing.assert_allclose(one[0], other[0], atol=2e-4, rtol=1e-3)
    for mine, theirs in zip([*one[1], *one[2]], [*other[1], *other[2]], strict=True):
        np.testing.assert_allclose(mine, theirs, atol=2e-4, rtol=1e-3)


def test_answers_are_the_same(both: tuple[TorchNetwork, OnnxNetwork]) -> None:
    answers = [
        ModelRows(network, Bytes(), ["1|x = 1\n\n"], longest=40).ask({0: ("f 2: n=4\n+1\n", "f 2: n=4")})[0]
        for network in both
    ]
    assert answers[0].text[:20] == answers[1].text[:20]
    assert both[1].about["step"] == 7


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(InputError, match="has no model of deskcheck"):
        OnnxNetwork(tmp_path / "model.onnx")


def test_nothing_is_reported_to_anybody(tmp_path: Path) -> None:
    """ONNX Runtime makes itself an id and a queue of reports in the home folder, unless it is told not to."""
    loads = "import sys; from pathlib import Path; from deskcheck.teach.small.runtime import OnnxNetwork as N"
    nano = Path(runtime.__file__).parents[1] / "nano" / "model.onnx"
    quiet = ("CI", "ORT_DISABLE_TELEMETRY", "ORT_RUNNING_UNIT_TESTS", "XDG_CACHE_HOME")
    home = {name: value for name, value in os.environ.items() if name not in quiet} | {"HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", f"{loads}; N(Path(sys.argv[1]))", nano], env=home, check=True)
    assert [*tmp_path.rglob("*")] == []
