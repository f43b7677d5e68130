"""Hooks of Inspect that count how far a run of `ask` is."""

from functools import cache

from inspect_ai.hooks import Hooks, ModelRetry, ModelUsageData, SampleEnd, TaskStart, hooks

from deskcheck.ask.inspect.context import run_context
from deskcheck.ask.results.inspect_logs import input_tokens


class _ProgressHooks(Hooks):
    def enabled(self) -> bool:
        return run_context().progress is not None

    async def on_task_start(self, data: TaskStart) -> None:
        if (progress := run_context().progress) is not None:
            progress.tasks[data.eval_id] = (data.spec.task, data.spec.model)

    async def on_sample_end(self, data: SampleEnd) -> None:
        progress = run_context().progress
        if progress is not None and data.sample.scores and data.eval_id in progress.tasks:
            progress.scored.add((*progress.tasks[data.eval_id], str(data.sample.id), data.sample.epoch))
            progress.update()

    async def on_model_usage(self, data: ModelUsageData) -> None:
        if (progress := run_context().progress) is not None:
            state, usage = progress.state, data.usage
            cost = state.cost if usage.total_cost is None else (state.cost or 0.0) + usage.total_cost
            progress.update(
                input_tokens=state.input_tokens + input_tokens(usage),
                output_tokens=state.output_tokens + usage.output_tokens,
                cost=cost,
            )

    async def on_model_retry(self, data: ModelRetry) -> None:
        if (progress := run_context().progress) is not None:
            progress.update(retries=progress.state.retries + 1)


@cache
def register_hooks() -> None:
    # Not on import: Inspect then prints the number of hooks in every `inspect eval`.
    hooks(name="deskcheck_progress", description="How far a run of `deskcheck ask` is")(_ProgressHooks)
