"""``generated:COUNT`` as a source: its options, and the origin of its programs."""

import random
from collections.abc import Iterator

from deskcheck.recording import Mode, Program
from deskcheck.sources.generated.program import program_text
from deskcheck.sources.text.options import whole_number, whole_range, with_options

PREFIX = "generated:"
SOURCE = f"deskcheck {PREFIX}"
LICENCE = "Apache-2.0"
HIGHEST = 10
"""The highest level of difficulty. A level includes all levels below it."""
_OPTIONS = {
    "difficulty": "levels of the programs: 4 means levels 1 to 4 in equal parts, 4-4 only level 4",
    "inputs": "argument lists for each program, 3 by default",
    "seed": "a number; another one gives other programs",
}


def generated(source: str) -> Iterator[Program]:
    """The programs of ``generated:COUNT[,OPTION=VALUE...]``, one for each argument list.

    COUNT is the number of texts. Text k does not depend on COUNT. `extra` has difficulty, text (k) and input.

    Raises:
        InputError: the source has another form.
    """
    head, options = with_options(source.removeprefix(PREFIX), _OPTIONS, source)
    count = whole_number(head, "COUNT", source)
    inputs = whole_number(options.get("inputs", "3"), "inputs", source, maximum=100)
    seed = whole_number(options.get("seed", "0"), "seed", source, minimum=0)
    difficulty = options.get("difficulty", str(HIGHEST))
    levels = whole_range(difficulty, "difficulty", source, minimum=1, maximum=HIGHEST)
    return _programs(count, inputs, seed, levels if "-" in difficulty else range(1, levels[-1] + 1))


def _programs(count: int, inputs: int, seed: int, levels: range) -> Iterator[Program]:
    for number in range(count):
        rng = random.Random(f"{seed}:{number}")
        level = levels[int(rng.random() * len(levels))]
        program = program_text(rng, level, inputs)
        for k, arguments in enumerate(program.arguments):
            yield Program(
                id=f"generated-{seed}-{number}-{k}",
                code=program.code,
                mode=Mode.CALL,
                entry=program.entry,
                arguments=arguments,
                source=f"{SOURCE}{levels[0]}-{levels[-1]}",
                licence=LICENCE,
                train_ok=True,
                extra={"difficulty": level, "seed": seed, "text": number, "input": k},
            )
