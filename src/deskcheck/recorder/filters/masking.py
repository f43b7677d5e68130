"""Takes secrets out of recordings of programs: values of this process's environment, and of ``.env`` files.

The text of the program is not masked. If it contains a secret, the recording does, too.
"""

from collections.abc import Iterable
from dataclasses import replace

from deskcheck.recording.program import Program
from deskcheck.recording.recording import RunResult
from deskcheck.recording.secrets import EnvironmentMask, secrets_of, variables_around


def mask_around(*folders: str | None) -> EnvironmentMask | None:
    """The mask for secrets of the environment and of ``.env`` in these folders; None without secrets."""
    secrets = secrets_of(variables_around(*folders))
    return EnvironmentMask(secrets) if secrets else None


def masked(run_result: RunResult, mask: EnvironmentMask) -> RunResult:
    """The result without secrets."""
    return replace(
        run_result,
        result=None if run_result.result is None else mask.text(run_result.result),
        stdout=mask.text(run_result.stdout),
        stderr=mask.text(run_result.stderr),
        detail=mask.text(run_result.detail),
    )


def masked_program(program: Program, mask: EnvironmentMask) -> Program:
    """The program without secrets in its arguments and standard input."""
    extra = dict(program.extra)
    if "argv" in extra:
        extra["argv"] = [mask.text(argument) for argument in extra["argv"]]
    if "stdin" in extra:
        extra["stdin"] = mask.text(extra["stdin"])
    return replace(program, extra=extra)


def masked_text(names: Iterable[str]) -> str:
    """The note for a user whose secrets were masked."""
    return f"the values of {', '.join(sorted(names))} are masked in the recording; --no-mask keeps them"
