"""The result of making a benchmark of a project's own tests, as data for its page."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from deskcheck._version import __version__
from deskcheck.ask.results.statistics import Interval

RECORDINGS, QUESTIONS_FILE = "recordings", "questions.jsonl"
"""Names in the folder of a benchmark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """The interpreter that runs the tests. how: its origin, in words. made: by deskcheck, now or earlier."""

    path: str
    version: str
    how: str
    made: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A fixture, module or plugin that tests lack. package: the one that has it, if known. tests: how many
    did not run without it."""

    what: str
    package: str | None
    tests: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkKind:
    """A kind of question in a benchmark. functions: each is a cluster. scores: by baseline. excluded:
    reason -> recordings."""

    name: str
    samples: int
    functions: int
    scores: Mapping[str, Interval]
    excluded: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkFunction:
    """A function of the project. public: its users call it. samples: kind of question -> number. why_not: the
    reason why there are none. made: whether all samples are of made inputs."""

    module: str
    name: str
    file: str
    line: int
    public: bool
    samples: Mapping[str, int]
    why_not: str
    made: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """A benchmark.

    tests: outcome -> number; failing: test -> reason. network: tests that failed without a network.
    made_inputs: recordings of calls with made inputs; made_failed: the reason why none could be made. wall_s:
    step -> seconds. own_s: CPU time of the tests without recording; cost_s: of recording them; inputs_s: of
    making inputs.
    """

    folder: str
    project: str
    name: str
    version: str | None
    licence: Mapping[str, str] | None
    interpreter: Interpreter
    tests: Mapping[str, int]
    failing: Mapping[str, str]
    network: tuple[str, ...]
    missing: tuple[Missing, ...]
    recorded: int
    kinds: tuple[BenchmarkKind, ...]
    functions: tuple[BenchmarkFunction, ...]
    calls_left_out: Mapping[str, int]
    not_repeatable: int
    packages: Mapping[str, str]
    tracer: str
    settings: Mapping[str, Any]
    wall_s: Mapping[str, float]
    own_s: float | None
    cost_s: float | None
    made_inputs: int = 0
    made_failed: str = ""
    inputs_s: float | None = None
    deskcheck: str = __version__

    @property
    def samples(self) -> int:
        return sum(kind.samples for kind in self.kinds)

    @property
    def clusters(self) -> int:
        """Functions with samples: the observations of intervals."""
        return sum(bool(function.samples) for function in self.functions)

    @property
    def public(self) -> tuple[int, int]:
        """Public functions with samples, and all public functions."""
        public = [function for function in self.functions if function.public]
        return sum(bool(function.samples) for function in public), len(public)

    @property
    def origins(self) -> tuple[int, int, int]:
        """Public functions with samples from tests; from made inputs; without samples."""
        asked_about, public = self.public
        from_made_inputs = sum(function.made for function in self.functions if function.public)
        return asked_about - from_made_inputs, from_made_inputs, public - asked_about

    @property
    def right(self) -> bool:
        """Whether the oracle, which answers from the recording, is right everywhere."""
        return all(kind.scores["oracle"].value == 1 for kind in self.kinds if kind.samples)

    def to_dict(self) -> dict[str, Any]:
        """The fields, and figures that follow from them, JSON-able."""
        with_samples, public = self.public
        from_tests, from_made_inputs, _ = self.origins
        return asdict(self) | {
            "samples": self.samples,
            "clusters": self.clusters,
            "public_functions": {
                "asked_about": with_samples,
                "all": public,
                "from_tests": from_tests,
                "from_made_inputs": from_made_inputs,
            },
            "oracle_is_right": self.right,
        }
