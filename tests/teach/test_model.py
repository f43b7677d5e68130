"""The small model: that programs read once change nothing, and that it is a Llama."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deskcheck.recording import InputError

torch = pytest.importorskip(
    "torch", reason="no torch: would have proved that the small model computes what it says"
)

from deskcheck.teach.small.batches import Batch  # noqa: E402
from deskcheck.teach.small.model import Model, ModelConfig  # noqa: E402

CONFIG = ModelConfig(vocab_size=50, layers=2, hidden_size=32, heads=2, intermediate_size=48)


@pytest.fixture
def model() -> Model:
    return made(CONFIG)


def made(config: ModelConfig) -> Model:
    torch.manual_seed(0)
    model = Model(config)
    model.eval()
    return model


def tokens(*shape: int) -> Any:
    return torch.randint(0, 50, shape, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("shift", [0, 3, 7])
def test_rows_with_a_context_are_rows_that_begin_with_it(shift: int) -> None:
    """Programs of different lengths, three rows of each: as if every row held its program."""
    model = made(replace(CONFIG, shift_tokens=shift))
    programs, lengths, rows = tokens(2, 9), torch.tensor([9, 5]), tokens(6, 7)
    owner = torch.tensor([0, 0, 0, 1, 1, 1])
    before = Batch(programs, lengths, owner, rows, rows, programs, rows).before(shift)
    with torch.inference_mode():
        known, _ = model(rows, model.read(programs, lengths).of(owner), before)
        for row in range(6):
            length = int(lengths[owner[row]])
            whole = torch.cat([programs[owner[row], :length], rows[row]])[None]
            alone, _ = model(whole)
            torch.testing.assert_close(known[row], alone[0, length:], atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("shift", [0, 3])
def test_no_token_sees_what_comes_later(shift: int) -> None:
    model = made(replace(CONFIG, shift_tokens=shift))
    rows = tokens(1, 8)
    other = rows.clone()
    other[0, 5:] = (other[0, 5:] + 1) % 50
    with torch.inference_mode():
        torch.testing.assert_close(model(rows)[0][0, :5], model(other)[0][0, :5])
        assert not torch.allclose(model(rows)[0][0, 5], model(other)[0][0, 5])


def test_saved_model_is_the_same(model: Model, tmp_path: Path) -> None:
    model.save(tmp_path, {"step": 3})
    loaded, about = Model.load(tmp_path)
    assert about["step"] == 3
    with torch.inference_mode():
        torch.testing.assert_close(loaded.eval()(tokens(1, 6))[0], model(tokens(1, 6))[0])


def test_transformers_run_it_as_a_llama(model: Model, tmp_path: Path) -> None:
    transformers = pytest.importorskip(
        "transformers", reason="would have proved that Hugging Face's Llama gives the same"
    )
    model.save(tmp_path, {})
    theirs = transformers.LlamaForCausalLM.from_pretrained(tmp_path).eval()
    with torch.inference_mode():
        ours = model.logits(model(tokens(2, 11))[0])
        torch.testing.assert_close(theirs(tokens(2, 11)).logits, ours, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("damage", ["missing", "foreign", "cut"])
def test_other_folders_are_refused(model: Model, tmp_path: Path, damage: str) -> None:
    if damage != "missing":
        model.save(tmp_path, {})
    if damage == "foreign":
        (tmp_path / "config.json").write_text(json.dumps({"model_type": "llama"}))
    elif damage == "cut":
        weights = tmp_path / "model.safetensors"
        weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(InputError, match="has no model of deskcheck"):
        Model.load(tmp_path)


def test_width_that_heads_do_not_divide_is_refused() -> None:
    with pytest.raises(InputError, match="even multiple of heads=3"):
        ModelConfig(vocab_size=50, hidden_size=32, heads=3)
