"""A method: the question, after a system message."""

from inspect_ai.model import ChatMessageSystem
from inspect_ai.solver import Generate, Solver, TaskState, solver

from deskcheck.ask import method

ABOUT = "You are an interpreter of Python. Work exactly, and give only the answer."


@solver
def after_a_system_message() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.messages.insert(0, ChatMessageSystem(content=ABOUT))
        return await generate(state)

    return solve


@method("as_interpreter", about="the question, after a system message")
def as_interpreter() -> Solver:
    return after_a_system_message()
