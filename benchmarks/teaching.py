"""Training on lessons that share their program, and stepping with a model, each beside the plain way.

    python -m benchmarks.teaching training --lessons LESSONS [--reps 3]
    python -m benchmarks.teaching stepping --runs RUNS --model FOLDER [--programs 16] [--budget 40]

training: lessons a second, forward and backward, of the same lessons: as `deskcheck teach` computes them (a
program is read once for all its lessons of a batch) and one sequence each, as trainers of Hugging Face do
(program, prompt and answer in every sequence, filled up to the longest). Both by the same model, in the same
precision, in turn; the losses are compared, so that both do the same work.

stepping: steps a second of the same programs: `Stepper` with all of them at once, and `generate` of Hugging
Face transformers on the same weights (float32, greedy), one call a step, one program at a time: with the
cache that it keeps within a call, and without any. The states must be the same. The model is one of Hugging
Face, or one of ours that transformers can run: of `teach --shift-tokens 0`.
"""

import argparse
import math
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from benchmarks._page import machine, table
from deskcheck.notation.layout import program_text, step_prompt
from deskcheck.recording.reader import Recordings
from deskcheck.teach.lessons.tokens import Words
from deskcheck.teach.pretrained.opening import step_model
from deskcheck.teach.small.batches import Batch, Lessons, make_batch, read_lessons, shards, some_texts
from deskcheck.teach.small.checkpoints import Checkpoint
from deskcheck.teach.small.evaluation import run_all
from deskcheck.teach.small.interpreter import StepModel
from deskcheck.teach.small.model import Model, ModelConfig
from deskcheck.teach.small.training import loss_of


def alone(lessons: Sequence[Lessons]) -> Batch:
    """The same lessons, one sequence each, with nothing shared."""
    made = make_batch(
        [
            Lessons([Words.padding], [([*one.program, *prompt], completion)])
            for one in lessons
            for prompt, completion in one.pairs
        ],
        Words.padding,
    )
    # A context of length 0: every sequence holds its program itself.
    return replace(made, lengths=torch.zeros_like(made.lengths))


def training(options: argparse.Namespace) -> str:
    """Lessons a second either way."""
    files = shards(options.lessons)
    chosen: list[list[Lessons]] = []
    tokenizer = Words.learned(some_texts(files), 768)
    held = list(read_lessons(files, "train", tokenizer))
    for start in range(0, len(held), max(1, options.rows // options.each)):
        part = held[start : start + max(1, options.rows // options.each)]
        chosen.append([Lessons(one.program, one.pairs[: options.each]) for one in part])
        if len(chosen) == options.batches:
            break
    torch.manual_seed(0)
    model = Model(ModelConfig(vocab_size=tokenizer.size))
    seconds: dict[str, list[float]] = {"shared": [], "alone": []}
    losses: dict[str, float] = {}
    lessons = sum(len(one.pairs) for batch in chosen for one in batch)
    ways = {"shared": lambda some: make_batch(some, Words.padding), "alone": alone}
    for _ in range(options.reps):
        for name, way in ways.items():
            spent, total = 0.0, 0.0
            for some in chosen:
                batch = way(some)
                started = time.perf_counter()
                loss, _ = loss_of(model, batch, options.precision)
                loss.backward()
                spent += time.perf_counter() - started
                total += float(loss.detach())
                model.zero_grad()
            seconds[name].append(spent)
            losses[name] = total / len(chosen)
    if not math.isclose(losses["shared"], losses["alone"], rel_tol=0.02):
        raise SystemExit(f"the losses differ, so the work is not the same: {losses}")
    rate = {name: lessons / statistics.median(found) for name, found in seconds.items()}
    ratios = [b / a for a, b in zip(seconds["shared"], seconds["alone"], strict=True)]
    head = ["training, lessons a second", "", "to reach"]
    program = statistics.mean(len(one.program) for batch in chosen for one in batch)
    rest = statistics.mean(len(p) + len(c) for batch in chosen for one in batch for p, c in one.pairs)
    return table(
        head,
        [
            [
                "lessons; tokens of a program, of the rest (means)",
                f"{lessons}; {program:.0f}, {rest:.0f}",
                "",
            ],
            [f"programs read once ({options.each} lessons of each in a batch)", f"{rate['shared']:.1f}", ""],
            ["one sequence each", f"{rate['alone']:.1f}", ""],
            ["ratio", f"{statistics.median(ratios):.2f}", "at least 4"],
            ["... in each repetition", ", ".join([f"{ratio:.2f}" for ratio in ratios]), ""],
        ],
    )


def stepping(options: argparse.Namespace) -> str:
    """Steps a second either way."""
    recordings = [r for r in Recordings(options.runs) if len(r.trace) > 2][: options.programs]
    with step_model(str(options.model), explain=False, arguments={}) as model:
        ways = _ways(model, options.model)
        rates: dict[str, list[float]] = {name: [] for name in ways}
        ours: list[float] = []
        same, steps, made = dict.fromkeys(ways, 0), 0, 0
        for _ in range(options.reps):
            started = time.perf_counter()
            runs = list(run_all(model, recordings, budget=options.budget, rows=options.rows))
            spent = time.perf_counter() - started
            made = sum(len(one.run.jumps) for one in runs)
            asked = [
                (
                    program_text(one.recording.program),
                    step_prompt(one.recording.program.code.splitlines(), before),
                    after,
                )
                for one in runs
                for before, after in zip(one.run.states, one.run.states[1:], strict=False)
            ]
            asked = asked[:: max(1, len(asked) // options.generated)][: options.generated]
            if not asked:
                raise SystemExit("the model gives no readable state: nothing to compare")
            steps = len(asked)
            ours.append(made / spent)
            for name, answer in ways.items():
                started = time.perf_counter()
                same[name] = sum(answer(program, prompt) == after for program, prompt, after in asked)
                rates[name].append(steps / (time.perf_counter() - started))
    rows = [
        ["programs; steps made, steps compared", f"{len(recordings)}; {made}, {steps}", ""],
        ["the stepper", f"{statistics.median(ours):.1f}", ""],
    ]
    for name, found in rates.items():
        ratios = [a / b for a, b in zip(ours, found, strict=True)]
        rows += [
            [f"one `generate` a step, {name}", f"{statistics.median(found):.1f}", ""],
            ["ratio", f"{statistics.median(ratios):.1f}", "at least 8"],
            ["... in each repetition", ", ".join([f"{ratio:.1f}" for ratio in ratios]), ""],
            ["same state", f"{same[name]} of {steps}", "all"],
        ]
    return table(["stepping, steps a second", "", "to reach"], rows)


def _ways(model: StepModel, folder: Path) -> dict[str, Callable[[str, str], str]]:
    """`generate` of transformers on the same weights, as a function of program and prompt."""
    from transformers import AutoModelForCausalLM

    if isinstance(model, Checkpoint):
        ours = model.tokenizer
        theirs: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        end, padding = ours.end, Words.padding

        def tokens(program: str, prompt: str) -> list[int]:
            return [*ours.encode(program), *ours.encode_prompt(prompt, program)]

        def text(asked: Sequence[int], prompt: str, written: Sequence[int]) -> str:
            return ours.decode_answer(prompt, written)
    else:
        from deskcheck.teach.pretrained.transformer import Transformer

        assert isinstance(model, Transformer)
        prompts, theirs = model.prompts, model.network
        end = padding = prompts.tokenizer.end
        tokens = prompts.tokens

        def text(asked: Sequence[int], prompt: str, written: Sequence[int]) -> str:
            return prompts.answer(asked, written)

    def way(use_cache: bool) -> Callable[[str, str], str]:
        def answer(program: str, prompt: str) -> str:
            asked = tokens(program, prompt)
            with torch.inference_mode():
                out = theirs.generate(
                    torch.tensor([asked]),
                    attention_mask=torch.ones(1, len(asked), dtype=torch.long),
                    max_new_tokens=600,
                    do_sample=False,
                    eos_token_id=end,
                    pad_token_id=padding,
                    use_cache=use_cache,
                )
            written = [n for n in out[0, len(asked) :].tolist() if n != end]
            return text(asked, prompt, written)

        return answer

    return {"with its own cache": way(True), "without a cache": way(False)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=["training", "stepping"])
    parser.add_argument("--lessons", type=Path)
    parser.add_argument("--runs", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--rows", type=int, default=128, help="lessons in a batch; programs stepped at once")
    parser.add_argument("--each", type=int, default=32, help="lessons of one program in a batch")
    parser.add_argument("--batches", type=int, default=4)
    parser.add_argument("--precision", default="bf16")
    parser.add_argument("--programs", type=int, default=64)
    parser.add_argument("--budget", type=int, default=40, help="steps of a program")
    parser.add_argument("--generated", type=int, default=60, help="steps made by `generate`, of those")
    options = parser.parse_args()
    needed = ["lessons"] if options.part == "training" else ["runs", "model"]
    for name in needed:
        if getattr(options, name) is None or not getattr(options, name).is_dir():
            parser.error(f"{options.part} needs --{name}, a folder")
    print(training(options) if options.part == "training" else stepping(options))
    print(f"\n{machine()}; torch {torch.__version__}, {torch.get_num_threads()} threads", file=sys.stderr)


if __name__ == "__main__":
    main()
