"""Whether a benchmark holds what it says: references are right, and answers known to be bad are wrong.

Scored as a model's answers are, within the same limits.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from deskcheck.ask.answers.parsing import CLOSE, OPEN
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.scoring import sandbox
from deskcheck.ask.scoring.programs import missing_module, tests_in
from deskcheck.ask.scoring.score import PROGRAM_FORMS, AnswerScore


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that does not hold. answer: ``reference``, or ``known_bad[0]`` and so on."""

    id: str
    answer: str
    why: str

    def __str__(self) -> str:
        return f"{self.id}: {self.answer}: {self.why}"


@dataclass(slots=True)
class SelfCheck:
    """What came of a self-check. tests: of all tasks that were checked. good: references, of which
    good_right are right. bad: answers that are known to be bad, of which bad_right are right all the same.
    not_run: by module, tasks that need it where it is not installed. no_reference: tasks without one.
    findings: what does not hold."""

    good: int = 0
    good_right: int = 0
    bad: int = 0
    bad_right: int = 0
    no_reference: int = 0
    tests: int = 0
    not_run: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return not self.findings


@dataclass(frozen=True, slots=True)
class _Checked:
    sample: Sample
    good: AnswerScore | None
    bad: tuple[AnswerScore, ...]


def self_check(
    samples: Iterable[Sample], *, workers: int = 2, progress: Callable[[int], None] = lambda done: None
) -> SelfCheck:
    """Score the reference and the known-bad answers of each sample. progress is told how many are done.

    Raises SandboxError: the place where answers are run cannot be had.
    """
    found = SelfCheck()
    pool = ThreadPoolExecutor(workers)
    with sandbox.for_many(workers=workers) as place:

        def check(sample: Sample) -> _Checked:
            def scored(answer: str) -> AnswerScore:
                given = f"{OPEN}{answer}{CLOSE}"
                try:
                    return sandbox.score_in(place, sample, given)
                except sandbox.AnswerNotRun as error:  # a test that ends its own process, for example
                    return AnswerScore(0.0, None, str(error))

            bad = tuple(scored(answer) for answer in sample.data.get("known_bad", ()))
            return _Checked(sample, scored(sample.answer) if sample.answer else None, bad)

        try:
            for done, checked in enumerate(pool.map(check, samples), 1):
                _note(checked, found)
                progress(done)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    return found


def _note(checked: _Checked, found: SelfCheck) -> None:
    sample = checked.sample
    missing = missing_module(sample.data.get("modules", ()), sample.data.get("environment"))
    if missing is not None:
        found.not_run[missing] = found.not_run.get(missing, 0) + 1
        return
    if sample.data["form"] in PROGRAM_FORMS:
        found.tests += tests_in(sample.data)
    if checked.good is None:
        found.no_reference += 1
    else:
        found.good += 1
        found.good_right += checked.good.score == 1
        if checked.good.score != 1:
            found.findings.append(Finding(sample.id, "reference", f"is not right: {checked.good.reason}"))
        else:
            parts = [name for name in ("base_right", "new_right") if checked.good.metrics.get(name) == 0]
            found.findings += [Finding(sample.id, "reference", f"{name} is 0") for name in parts]
    for number, bad in enumerate(checked.bad):
        found.bad += 1
        found.bad_right += bad.score == 1
        if bad.score == 1:
            found.findings.append(Finding(sample.id, f"known_bad[{number}]", "passes all tests"))
