#!/bin/sh
# Teach an 8B model to run Python programs step by step, with LoRA adapters, on one GPU of 80 GB.
#
#     sh examples/tune-8b.sh meta-llama/Llama-3.1-8B work
#
# What it costs: docs/guides/fine-tune.md, "What an 8B model costs". Each command goes on where it was
# stopped, so the script can be started again.
set -eu
model=$1 work=$2

# 1. Programs to learn from, and others to be measured on: other seeds, and families of long executions.
deskcheck record "generated:20000,difficulty=1-10,inputs=1,seed=1" --no-repeat --out "$work/taught"
deskcheck record "generated:300,difficulty=1-10,inputs=1,seed=9002" --no-repeat --out "$work/asked"
deskcheck record "family:collatz,inputs=paper,texts=0" --no-repeat --out "$work/collatz"

# 2. Lessons in the model's own tokens: at most 16 steps of each program, of each path as many.
deskcheck lessons "$work/taught" --out "$work/lessons" --tokenizer "$model" --steps 16 --by-path --budget 2048
python -m benchmarks.tuning_cost "$work/lessons" --parameters 8.03e9 --per-device-batch-size 16

# 3. Before: the model as it is, with the notation explained.
deskcheck models step "$work/asked" --model "hf/$model" --explain --each 20 --json > "$work/before.json"

# 4. Training: one pass. Rank 16 in all linear layers is 42 million weights of Llama 3.1 8B.
deskcheck teach "$work/lessons" --model "$model" --out "$work/adapters" \
    --lora 16 --batch-size 64 --per-device-batch-size 16 --learning-rate 2e-4 --eval-every 200

# 5. After: steps from true states, runs from the first state, and results.
deskcheck models step "$work/asked" --model "$work/adapters" --each 20 --json > "$work/after.json"
deskcheck models step "$work/collatz" --model "$work/adapters" --budget 5000
deskcheck ask "$work/asked" -q output --method dynamic_scratchpad --no-explain --model hf/tuned \
    -M model_path="$work/adapters" -M do_sample=false --max-tokens 500
