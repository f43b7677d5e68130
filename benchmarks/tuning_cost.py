"""What it costs to train a model on a folder of lessons: tokens, operations, hours of a GPU.

    python -m benchmarks.tuning_cost LESSONS --parameters 8.03e9 [--full] [--epochs 1] [--utilisation 0.3]

Nothing is trained. Operations a token and parameter: 2 forward; 2 backward for the activations; 2 backward
for the weights, which adapters (LoRA) spare but for their own few; 2 for the forward pass once more, since
`deskcheck teach --model` keeps no activations on a GPU. Sum: 6 with adapters, 8 without. Attention between
tokens is left out: at 500 tokens it is below 2 % for a model of 8 billion parameters. A batch is filled up
to its longest lesson; what that adds is counted on the lessons themselves, in random order.

Lessons that were built with ``bytes`` have no tokens of the model: --bytes-per-token says how many bytes a
token has. Lessons that were built with the model's tokenizer need no such guess.
"""

import argparse
import json
import random
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks._page import table

H100_BF16 = 989e12
"""Dense operations a second of an H100 SXM, as its maker gives them."""


def operations_per_token(parameters: float, *, full: bool) -> float:
    """Operations of the hardware for a token that is trained on."""
    return (8 if full else 6) * parameters


def filled_up(tokens: list[int], rows: int, seed: int = 0) -> int:
    """Tokens of all batches of so many lessons, each filled up to its longest."""
    drawn = list(tokens)
    random.Random(seed).shuffle(drawn)
    batches = [drawn[start : start + rows] for start in range(0, len(drawn), rows)]
    return sum(len(batch) * max(batch) for batch in batches)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("lessons", type=Path)
    parser.add_argument("--parameters", type=float, default=8.03e9)
    parser.add_argument("--full", action="store_true", help="all weights, not adapters")
    parser.add_argument("--epochs", type=float, default=1)
    parser.add_argument("--per-device-batch-size", type=int, default=8)
    parser.add_argument("--peak", type=float, default=H100_BF16, help="operations a second of the GPU")
    parser.add_argument("--utilisation", type=float, default=0.3, help="share of the peak that is reached")
    parser.add_argument("--bytes-per-token", type=float, default=2.5)
    options = parser.parse_args()
    files = sorted(options.lessons.glob("train-*.parquet"))
    if not files:
        parser.error(f"{options.lessons}: holds no lessons to train on")
    tokens = [n for file in files for n in pq.read_table(file, columns=["tokens"])["tokens"].to_pylist()]
    in_bytes = json.loads((options.lessons / "lessons.json").read_text())["settings"]["tokenizer"] == "bytes"
    if in_bytes:
        tokens = [round(count / options.bytes_per_token) for count in tokens]
    read = options.epochs * filled_up(tokens, options.per_device_batch_size)
    per_token = operations_per_token(options.parameters, full=options.full)
    seconds = read * per_token / (options.peak * options.utilisation)
    rate = f"{options.utilisation:.0%} of {options.peak:.3g} operations a second"
    rows = [
        ["lessons", f"{len(tokens):,}"],
        ["tokens" + (f", {options.bytes_per_token} bytes each" if in_bytes else ""), f"{sum(tokens):,}"],
        [f"tokens, filled up in batches of {options.per_device_batch_size}, all epochs", f"{read:,.0f}"],
        ["operations a token", f"{per_token:.3g}"],
        ["operations", f"{read * per_token:.3g}"],
        [f"hours at {rate}", f"{seconds / 3600:.2f}"],
        ["tokens a second", f"{read / seconds:,.0f}"],
    ]
    print(table(["training", "all weights" if options.full else "adapters"], rows))


if __name__ == "__main__":
    main()
