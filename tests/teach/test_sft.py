"""Training real checkpoints with TRL: what is trained, that it learns, that it goes on where it was ended."""

import json
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deskcheck.cli import app
from deskcheck.recording import InputError, RecordingError

pytest.importorskip("trl", reason="would show that lessons train a Hugging Face model through TRL")

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from typer.testing import CliRunner

from deskcheck.teach.lessons.lessons import LessonSettings, build
from deskcheck.teach.run_folder import METRICS, RUN
from deskcheck.teach.settings import Tuning
from deskcheck.teach.sft import tune
from tests.teach.conftest import Recorded, call

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def _byte_tokenizer() -> PreTrainedTokenizerFast:
    """A token for each byte, and one that ends a text."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    bpe = Tokenizer(models.BPE(vocab={c: n for n, c in enumerate(["<end>", *alphabet])}, merges=[]))
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bpe.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe, eos_token="<end>", pad_token="<end>", clean_up_tokenization_spaces=False
    )


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny Llama of random weights with a byte-level tokenizer."""
    folder = tmp_path_factory.mktemp("tiny")
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=257,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=256,
        bos_token_id=None,
        eos_token_id=0,
        pad_token_id=0,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    _byte_tokenizer().save_pretrained(folder)
    return folder


def _write(folder: Path, split: str, tokenizer: Any, rows: list[tuple[str, str, str]]) -> None:
    columns: dict[str, list[Any]] = {
        name: [] for name in ("prefix", "prompt", "completion", "tokens", "input_ids", "labels")
    }
    for prefix, prompt, completion in rows:
        first = [i for text in (prefix, prompt) for i in tokenizer.encode(text, add_special_tokens=False)]
        last = [*tokenizer.encode(completion, add_special_tokens=False), tokenizer.eos_token_id]
        for name, value in [
            ("prefix", prefix),
            ("prompt", prompt),
            ("completion", completion),
            ("tokens", len(first) + len(last)),
            ("input_ids", first + last),
            ("labels", [-100] * len(first) + last),
        ]:
            columns[name].append(value)
    folder.mkdir(exist_ok=True)
    ids = pa.list_(pa.int16())
    types = dict.fromkeys(("prefix", "prompt", "completion"), pa.string())
    schema = pa.schema([*types.items(), ("tokens", pa.int32()), ("input_ids", ids), ("labels", ids)])
    pq.write_table(pa.table(columns, schema=schema), folder / f"{split}-00000.parquet")


ROWS = [
    (
        f"1|def f(n):\n2|    return n + {k}\n\n",
        f"f 2: n={n}\n2|    return n + {k}\n+1\n",
        f"return f 2: n={n} -> {n + k}",
    )
    for k in range(3)
    for n in range(8)
]


@pytest.fixture(scope="module")
def lessons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Steps of three programs."""
    folder = tmp_path_factory.mktemp("lessons")
    _write(folder, "train", _byte_tokenizer(), ROWS[:-4])
    _write(folder, "validation", _byte_tokenizer(), ROWS[-4:])
    return folder


TUNING = Tuning(
    steps=20, batch_size=4, per_device_batch_size=4, learning_rate=1e-2, log_every=1, eval_every=5
)


def _losses(out: Path) -> dict[int, float]:
    rows = [json.loads(line) for line in (out / METRICS).read_text().splitlines()]
    return {row["step"]: row["loss"] for row in rows if "loss" in row}


@pytest.fixture(scope="module")
def trained(model: Path, lessons: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run") / "out"
    tune(lessons, str(model), out, tuning=TUNING)
    return out


def test_it_learns_and_says_what_it_was_asked(trained: Path, lessons: Path, model: Path) -> None:
    losses = _losses(trained)
    assert list(losses) == list(range(1, 21))
    assert losses[20] < 0.7 * losses[1]
    rows = [json.loads(line) for line in (trained / METRICS).read_text().splitlines()]
    checks = [row["validation_loss"] for row in rows if "validation_loss" in row]
    assert len(checks) == 4
    assert checks[-1] < checks[0]
    looks = [row for row in rows if "loss" in row]
    assert all(later["tokens"] > row["tokens"] for row, later in pairwise(looks))
    assert {"learning_rate", "seconds"} <= set(looks[0])
    run = json.loads((trained / RUN).read_text())
    assert run["tuning"]["steps"] == 20
    assert run["config"]["max_steps"] == 20
    assert set(run["lessons"]) == {"train-00000.parquet", "validation-00000.parquet"}
    again = AutoModelForCausalLM.from_pretrained(trained)  # what was trained stands in the folder itself
    first = AutoModelForCausalLM.from_pretrained(model)
    assert not torch.equal(again.model.embed_tokens.weight, first.model.embed_tokens.weight)


def test_only_completions_are_trained_and_all_of_each(model: Path, tmp_path: Path) -> None:
    """The losses are those of a loop by hand on the tokens of completions and their ends alone."""
    _write(tmp_path / "lessons", "train", _byte_tokenizer(), ROWS[:4])
    tuning = Tuning(steps=4, batch_size=4, per_device_batch_size=4, learning_rate=1e-3, log_every=1)
    tune(tmp_path / "lessons", str(model), tmp_path / "out", tuning=tuning)
    found = _rows(tmp_path / "out")

    network = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    tokenizer = _byte_tokenizer()
    matrices = [p for p in network.parameters() if p.dim() > 1]
    vectors = [p for p in network.parameters() if p.dim() == 1]
    groups = [
        {"params": matrices, "weight_decay": tuning.weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups)
    for row in found:
        for group in optimizer.param_groups:
            group["lr"] = row["learning_rate"]
        total, count = torch.zeros(()), 0
        for prefix, prompt, completion in ROWS[:4]:
            shown = tokenizer.encode(prefix + prompt)
            wanted = [*tokenizer.encode(completion), tokenizer.eos_token_id]
            logs = torch.log_softmax(network(input_ids=torch.tensor([shown + wanted])).logits[0], -1)
            said = logs[len(shown) - 1 : -1]
            total = total - said[torch.arange(len(wanted)), torch.tensor(wanted)].sum()
            count += len(completion.encode()) + 1
        loss = total / count
        assert row["loss"] == pytest.approx(float(loss), abs=1e-4)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()


def _rows(out: Path) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in (out / METRICS).read_text().splitlines()]
    return [row for row in rows if "loss" in row]


def test_run_that_was_ended_goes_on_with_the_same_losses(
    trained: Path, lessons: Path, model: Path, tmp_path: Path
) -> None:
    """Ended in step 13, it goes on from the checkpoint at 10; the folder of a checkpoint half written is left out."""

    class Ended(BaseException):
        pass

    def end(row: dict[str, Any]) -> None:
        if row["step"] == 13:
            raise Ended

    out = tmp_path / "out"
    with pytest.raises(Ended):
        tune(lessons, str(model), out, tuning=TUNING, note=end)
    half = out / "checkpoints" / "checkpoint-15"
    half.mkdir()
    (half / "optimizer.pt").write_bytes(b"half")
    seen: list[int] = []
    tune(lessons, str(model), out, tuning=TUNING, note=lambda row: seen.append(row["step"]))
    assert min(seen) == 11
    assert _losses(out) == pytest.approx(_losses(trained), abs=1e-6)


def test_adapters_are_trained_alone(model: Path, lessons: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    tune(
        lessons,
        str(model),
        out,
        tuning=Tuning(
            steps=6, batch_size=4, per_device_batch_size=2, lora=4, learning_rate=1e-2, log_every=1
        ),
    )
    losses = _losses(out)
    assert losses[6] < losses[1]
    assert (out / "adapter_config.json").exists()
    assert not (out / "model.safetensors").exists()


def test_what_cannot_be_trained_is_refused_before_it_begins(
    model: Path, lessons: Path, trained: Path, tmp_path: Path
) -> None:
    """No lessons, a different tokenizer's, no tokens, too long ones, no model, another run's folder, a text that the
    tokenizer has no token for."""
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputError, match="has no lessons to train on"):
        tune(empty, str(model), tmp_path / "a")
    _write(empty, "train", _byte_tokenizer(), [])
    with pytest.raises(InputError, match="are empty"):
        tune(empty, str(model), tmp_path / "a")

    table = pq.read_table(lessons / "train-00000.parquet")
    for name, rows, message in [
        ("shifted", [[2, *ids[1:]] for ids in table["input_ids"].to_pylist()], "a different tokenizer"),
        ("none", None, "has no input_ids"),
    ]:
        folder = tmp_path / name
        folder.mkdir()
        changed = table.drop_columns(["input_ids"])
        if rows is not None:
            changed = changed.append_column("input_ids", pa.array(rows, pa.list_(pa.int16())))
        pq.write_table(changed, folder / "train-00000.parquet")
        with pytest.raises(InputError, match=message):
            tune(folder, str(model), tmp_path / "a")
    long = tmp_path / "long"
    _write(long, "train", _byte_tokenizer(), [("1|pass\n\n", "x" * 300, "y")])
    with pytest.raises(InputError, match="has 310 tokens"):
        tune(long, str(model), tmp_path / "a")
    with pytest.raises(InputError, match="is not a model that can be loaded"):
        tune(lessons, str(tmp_path / "no-model"), tmp_path / "a")
    with pytest.raises(InputError, match="has a run with other tuning"):
        tune(lessons, str(model), trained, tuning=Tuning(steps=21))
    with pytest.raises(InputError, match="is neither empty nor a training run"):
        tune(lessons, str(model), empty)
    (lessons / "lessons.json").write_text('{"complete": false}')
    with pytest.raises(InputError, match="its lessons are incomplete"):
        tune(lessons, str(model), tmp_path / "a")
    (lessons / "lessons.json").unlink()
    cut = tmp_path / "cut"
    shutil.copytree(model, cut)
    (cut / "model.safetensors").write_bytes((cut / "model.safetensors").read_bytes()[:2000])
    with pytest.raises(InputError, match="cannot be loaded"):
        tune(lessons, str(cut), tmp_path / "of-cut", tuning=TUNING)

    few = Tokenizer(models.WordLevel({"<unk>": 0, "<end>": 1}, unk_token="<unk>"))
    poor = tmp_path / "poor"
    AutoModelForCausalLM.from_pretrained(model).save_pretrained(poor)
    PreTrainedTokenizerFast(tokenizer_object=few, eos_token="<end>", unk_token="<unk>").save_pretrained(poor)
    with pytest.raises(InputError, match="it has no token for some of the text"):
        tune(lessons, str(poor), tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_straight_from_recordings(record: Recorded, model: Path, tmp_path: Path) -> None:
    """`teach RECORDINGS --model`: lessons that the model can read are made in the folder of the run; again, with
    a damaged checkpoint, it is named."""
    code = "def f(n):\n    n += {}\n    return n\n"
    long = call("long", code.format("+".join("1" * 200)), "(2)")
    runs = record(*[call(f"run{n}", code.format(n), "(2)") for n in range(8)], long)
    out = tmp_path / "out"
    asked = ["teach", str(runs), "--model", str(model), "--out", str(out)]
    asked += "--steps 2 --batch-size 2 --per-device-batch-size 2 --eval-every 1".split()
    result = CliRunner().invoke(app, asked, catch_exceptions=False)
    assert result.exit_code == 0
    assert "left out, dynamic: 3 over the budget" in result.stdout
    weights = out / "checkpoints" / "checkpoint-2" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:2000])
    with pytest.raises(
        RecordingError, match=r"checkpoint-2: damaged: .*Delete it to resume from the previous one"
    ):
        CliRunner().invoke(app, asked, catch_exceptions=False)
    shutil.rmtree(weights.parent)
    assert CliRunner().invoke(app, asked, catch_exceptions=False).exit_code == 0
    assert weights.exists()


def test_questions_are_trained_as_they_are_asked(record: Recorded, tmp_path: Path) -> None:
    """A prompt that ends in `)` and an answer that begins with `[` do not share a token, though the tokenizer
    has one for both; so the lessons are those of this tokenizer, and train."""
    code = "def f(n):\n    return [n]\n"
    runs = record(*(call(f"p{n}", code.replace("[n]", f"[n, {n}]"), f"({n})") for n in range(3)))
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {c: n for n, c in enumerate(["<end>", *alphabet, ")["])}
    bpe = Tokenizer(models.BPE(vocab=vocabulary, merges=[(")", "[")]))
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bpe.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe, eos_token="<end>", pad_token="<end>", clean_up_tokenization_spaces=False
    )
    folder = tmp_path / "model"
    config = LlamaConfig(
        vocab_size=258,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=1,
        max_position_embeddings=2048,
        eos_token_id=0,
        pad_token_id=0,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    settings = LessonSettings(questions=("output",), tokenizer=str(folder), validation=0, test=0)
    summary = build([runs], tmp_path / "lessons", settings)
    assert (summary.lessons, summary.left_out) == (3, {})
    for row in pq.read_table(tmp_path / "lessons" / "train-00000.parquet").to_pylist():
        text = row["prefix"] + row["prompt"]
        assert (text[-1], row["completion"][0]) == (")", "[")
        asked = tokenizer.encode(text, add_special_tokens=False)
        assert row["input_ids"][: len(asked)] == asked
        assert vocabulary[")["] not in row["input_ids"][len(asked) - 1 :]
        assert tokenizer.decode([n for n in row["labels"] if n > 0]) == row["completion"]
    tuning = Tuning(steps=1, batch_size=1, per_device_batch_size=1)
    tune(tmp_path / "lessons", str(folder), tmp_path / "out", tuning=tuning)
    assert (tmp_path / "out" / "model.safetensors").exists()
