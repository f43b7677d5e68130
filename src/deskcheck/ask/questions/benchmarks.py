"""Published question sets in their own format, and benchmarks of programs that users write. They need no
recording: the set has the answers.

CRUXEval (Gu et al. 2024, arXiv:2401.03065): 800 functions with an input and an output; both directions.
Scored as the set scores: by Python's ``==`` (``strict=False``). Sets of programming tasks
(`sources.sets.coding_sets`): answers are programs, judged by the set's own tests. The words of the prompt
are ours, so scores compare between models here, and with published ones only roughly.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from deskcheck.ask.kinds.program import FORMS, program_sample
from deskcheck.ask.kinds.results import input_sample, output_sample
from deskcheck.ask.questions.predicted import PREDICTED_BENCHMARKS
from deskcheck.ask.questions.reader import BenchmarkReader, Note, Read, of_calls
from deskcheck.ask.questions.reval import REVAL_BENCHMARKS
from deskcheck.ask.samples.sample import Sample
from deskcheck.recording import InputError
from deskcheck.recording.program import code_lines
from deskcheck.sandbox.environments import find
from deskcheck.sources.sets.coding import HOLDS, read_coding_tasks
from deskcheck.sources.sets.coding_sets import CODING_SETS, read_coding_set
from deskcheck.sources.text.rows import has_format

_OF_RECORDINGS = ("recordings-*.parquet", "events-*.parquet", "*.trajectory.parquet")


def _coding(name: str) -> Read:
    return lambda path, note: map(program_sample, read_coding_set(name, path, note=note))


def _of_user(path: str | None, note: Note) -> Iterator[Sample]:
    if path is None:
        raise InputError(f"program: give your file as program:PATH, or only its path. {HOLDS}")
    if not Path(path).is_file():
        raise InputError(f"{path}: no such file. {HOLDS}")
    return map(program_sample, read_coding_tasks(Path(path), path))


BENCHMARKS: dict[str, BenchmarkReader] = {
    benchmark.name: benchmark
    for benchmark in [
        of_calls(
            "cruxeval_output",
            "CRUXEval: what the function returns",
            "cruxeval",
            output_sample,
            code_lines,
        ),
        of_calls(
            "cruxeval_input",
            "CRUXEval: an input that gives the output",
            "cruxeval",
            input_sample,
            code_lines,
        ),
        *(
            BenchmarkReader(name, f"{coding_set.title}: {coding_set.about}", _coding(name))
            for name, coding_set in CODING_SETS.items()
        ),
        *PREDICTED_BENCHMARKS,
        *REVAL_BENCHMARKS,
        BenchmarkReader(
            "program", "your own tasks, in a file of rows: program:PATH, or only its path", _of_user
        ),
    ]
}
"""Name of a benchmark -> the benchmark."""


def benchmark_in(text: str) -> tuple[BenchmarkReader, str | None] | None:
    """The benchmark that a text names, and its path; None if it names none.

    The text is ``NAME`` or ``NAME:PATH``, with ``@`` and an environment after the name if wanted. The path of
    a file of rows alone names a benchmark of programs.
    """
    named = _named(text)
    return None if named is None else named[:2]


def _named(text: str) -> tuple[BenchmarkReader, str | None, str | None] | None:
    """The benchmark, its path, and the environment that its programs run in."""
    before, colon, path = text.partition(":")
    name, _, environment = before.partition("@")
    if name in BENCHMARKS and not Path(text).exists():
        return BENCHMARKS[name], path if colon else None, environment or None
    file = Path(text)
    if not has_format(file) or file.is_dir():
        return None
    if any(map(file.match, _OF_RECORDINGS)):
        raise InputError(f"{file}: a file of recordings. Name its folder: {file.parent}.")
    return BENCHMARKS["program"], text, None


def _in_environment(samples: Iterator[Sample], name: str, text: str) -> Iterator[Sample]:
    find(name)
    for sample in samples:
        if sample.data["form"] not in FORMS:
            raise InputError(f"{text}: leave the environment out: only answers that are programs need one.")
        yield replace(sample, data={**sample.data, "environment": name})


def benchmark_samples(texts: Sequence[str], *, note: Note = lambda text: None) -> dict[str, list[Sample]]:
    """Name of each benchmark -> its samples.

    Raises InputError: one names no benchmark, is named twice, or cannot be read; two samples have one id; an
    environment is not built.
    """
    by_benchmark: dict[str, list[Sample]] = {}
    benchmark_of: dict[str, str] = {}
    for text in texts:
        named = _named(text)
        if named is None:
            raise InputError(
                f"{text}: unknown benchmark. The benchmarks are {', '.join(BENCHMARKS)}. Write NAME, "
                f"NAME:PATH or NAME@ENVIRONMENT:PATH."
            )
        benchmark, path, environment = named
        if benchmark.name in by_benchmark:
            raise InputError(f"{text}: {benchmark.name} is named twice. Ask one file after the other.")
        samples = benchmark.samples(path, note=note)
        if environment is not None:
            samples = _in_environment(samples, environment, text)
        by_benchmark[benchmark.name] = list(samples)
        for sample in by_benchmark[benchmark.name]:
            if benchmark_of.setdefault(sample.id, benchmark.name) != benchmark.name:
                raise InputError(
                    f"{text}: a sample of {benchmark_of[sample.id]} also has the id {sample.id!r}."
                )
    return by_benchmark
