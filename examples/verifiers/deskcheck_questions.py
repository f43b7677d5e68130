"""Questions that `deskcheck offline questions` wrote, as an environment of verifiers 0.4.

    vf-eval deskcheck-questions --env.taskset.questions questions.jsonl --model ...

A model is asked once and has no tools: with a shell it could run the program. Its reply is scored as
`deskcheck offline score` scores it. What fails on our side is an error of the rollout, and no reward.
"""

# verifiers needs another openai than deskcheck[ask], and so is never beside what checks types here.
# mypy: disable-error-code="import-not-found, misc, untyped-decorator"

import asyncio
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import httpx
import verifiers.v1 as vf

import deskcheck
from deskcheck.ask.rewards import Reward

__all__ = ["OneReply", "QuestionEnv", "QuestionTaskset"]


class QuestionData(vf.TaskData):
    questions: str
    """Path of the file that the question stands in."""


class QuestionTaskConfig(vf.TaskConfig):
    metric: str = "outcome"
    """The reward: the score, or the name of a metric. Only questions that have it are asked."""
    sandbox: str = "strict"
    """Confinement of answers that are run."""
    workers: int = 2
    """Answers that are run at once."""


class QuestionTasksetConfig(vf.TasksetConfig):
    questions: Path = Path("questions.jsonl")
    """What `deskcheck offline questions` wrote."""
    task: QuestionTaskConfig = QuestionTaskConfig()


class QuestionTask(vf.Task[QuestionData, vf.State, QuestionTaskConfig]):
    @property
    def key(self) -> str:
        return str(self.data.id)

    @vf.reward
    async def score_answer(self, trace: vf.Trace) -> float | None:
        rewarded = _reward(self.data.questions, self.config)
        ended = "length" if trace.is_truncated else None
        given = {"completions": [trace.last_reply], "id": [self.data.id], "stop_reason": [ended]}
        return (await asyncio.to_thread(rewarded, **given))[0]


class QuestionTaskset(vf.Taskset[QuestionTask, QuestionTasksetConfig]):
    def load(self) -> Iterator[QuestionTask]:
        path = str(self.config.questions.resolve())
        for row in _reward(path, self.config.task).rows():
            yield QuestionTask(QuestionData(**row, questions=path), self.config.task)


def _reward(questions: str, config: QuestionTaskConfig) -> Reward:
    return _made(questions, config.metric, config.sandbox, config.workers)


@cache
def _made(questions: str, metric: str, sandbox: str, workers: int) -> Reward:
    """One for all tasks of a process, with one sandbox, which ends with the process."""
    return deskcheck.reward(questions, metric, confinement=sandbox, workers=workers)


class OneReply(vf.Harness[vf.HarnessConfig]):
    """Asks the model once, from this process. The taskset's harness where nobody names another."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        system, prompt = self.resolve_text_prompt(data)
        messages = [("system", system), ("user", prompt)]
        body = {
            "model": ctx.model,
            "messages": [{"role": role, "content": text} for role, text in messages if text is not None],
        }
        async with httpx.AsyncClient(timeout=None) as client:
            reply = await client.post(
                f"{endpoint}/chat/completions", json=body, headers={"Authorization": f"Bearer {secret}"}
            )
        return vf.ProgramResult(0 if reply.is_success else 1, "", "" if reply.is_success else reply.text)


class QuestionEnvConfig(vf.SingleAgentEnvConfig):
    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())
    """Nothing runs beside this process, so that nothing has to be confined, or reached from elsewhere."""


class QuestionEnv(vf.Env[QuestionEnvConfig]):
    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        await agents.agent.run(task)
