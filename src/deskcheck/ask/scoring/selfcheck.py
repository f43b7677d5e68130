"""The self-check of a benchmark: references are right and known-bad answers are wrong, scored as a model's
answers are."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from deskcheck.ask.answers.parsing import written
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.scoring.judge import AnswerNotRun
from deskcheck.ask.scoring.programs import missing_module, tests_in
from deskcheck.ask.scoring.sandbox import for_many, score_in
from deskcheck.ask.scoring.score import PROGRAM_FORMS, AnswerScore


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong with a benchmark."""

    id: str
    answer: str
    """``reference``, or ``known_bad[0]`` and so on."""
    reason: str

    def __str__(self) -> str:
        return f"{self.id}: {self.answer}: {self.reason}"


@dataclass(slots=True)
class SelfCheck:
    """The result of a self-check."""

    good: int = 0
    """References."""
    good_right: int = 0
    bad: int = 0
    """Answers that are known to be bad."""
    bad_right: int = 0
    no_reference: int = 0
    """Tasks without a reference."""
    tests: int = 0
    not_run: dict[str, int] = field(default_factory=dict)
    """Module that is not installed -> tasks that need it."""
    findings: list[Finding] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return not self.findings


def self_check(
    samples: Iterable[Sample], *, workers: int = 2, progress: Callable[[int], None] = lambda count: None
) -> SelfCheck:
    """Score the reference and the known-bad answers of each sample. progress: gets the number that are done.

    Raises SandboxError: the sandbox is not available.
    """
    result = SelfCheck()
    pool = ThreadPoolExecutor(workers)
    with for_many(workers=workers) as sandbox:

        def scored(sample: Sample, answer: str) -> AnswerScore:
            try:
                return score_in(sandbox, sample, written(sample.data["form"], answer))
            except AnswerNotRun as error:  # a test that ends its own process, for example
                return AnswerScore(0.0, None, str(error))

        def check(sample: Sample) -> tuple[Sample, AnswerScore | None, list[AnswerScore]]:
            bad = [scored(sample, answer) for answer in sample.data.get("known_bad", ())]
            return sample, scored(sample, sample.answer) if sample.answer else None, bad

        try:
            for count, checked in enumerate(pool.map(check, samples), 1):
                _note(*checked, result)
                progress(count)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    return result


def _note(sample: Sample, good: AnswerScore | None, bad: list[AnswerScore], result: SelfCheck) -> None:
    missing = missing_module(sample.data.get("modules", ()), sample.data.get("environment"))
    if missing is not None:
        result.not_run[missing] = result.not_run.get(missing, 0) + 1
        return
    if sample.data["form"] in PROGRAM_FORMS:
        result.tests += tests_in(sample.data)
    if good is None:
        result.no_reference += 1
    else:
        result.good += 1
        result.good_right += good.score == 1
        reasons = [f"{name} is 0" for name in ("base_right", "new_right") if good.metrics.get(name) == 0]
        if good.score != 1:
            reasons = [f"is not right: {good.reason}"]
        result.findings += [Finding(sample.id, "reference", reason) for reason in reasons]
    for number, scored in enumerate(bad):
        result.bad += 1
        result.bad_right += scored.score == 1
        if scored.score == 1:
            result.findings.append(Finding(sample.id, f"known_bad[{number}]", "passes all tests"))
