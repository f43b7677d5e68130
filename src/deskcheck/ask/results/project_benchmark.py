"""What a benchmark of a project's own tests came to, as data: all that its page tells."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from deskcheck._version import __version__
from deskcheck.ask.results.statistics import Interval

RECORDINGS, QUESTIONS_FILE = "recordings", "questions.jsonl"
"""In the folder of a benchmark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """What runs the tests. path: of the program. version: as ``3.12.1``. how: whose it is, in words. made:
    whether it was made here, now or earlier."""

    path: str
    version: str
    how: str
    made: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """What tests lack. what: a fixture, a module, a plugin. package: that brings it, where that is known.
    tests: how many did not run for want of it."""

    what: str
    package: str | None
    tests: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkKind:
    """A kind of question in a benchmark. functions: that it is asked about, each a cluster. scores: of each
    baseline. excluded: reason -> recordings that are not asked about."""

    name: str
    samples: int
    functions: int
    scores: Mapping[str, Interval]
    excluded: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkFunction:
    """A function of the project. public: its users call it. samples: kind of question -> how many there are.
    why_not: why there are none; empty where there are. made: whether all samples are of made inputs."""

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
    """A benchmark that was made.

    tests: outcome -> how many; failing: test -> why it did not pass. network: tests that failed for want of a
    network. made_inputs: recordings of calls with made inputs; made_failed: why none could be made, else
    empty. wall_s: step -> seconds of this call. own_s: CPU time that the tests take by themselves; cost_s:
    what recording them took; inputs_s: what making inputs took.
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
        """Functions that something is asked about: what intervals count as observations."""
        return sum(bool(function.samples) for function in self.functions)

    @property
    def public(self) -> tuple[int, int]:
        """Public functions that something is asked about, and all public functions."""
        public = [function for function in self.functions if function.public]
        return sum(bool(function.samples) for function in public), len(public)

    @property
    def origins(self) -> tuple[int, int, int]:
        """Public functions that are asked about with calls of the tests; with made inputs; not at all."""
        asked_about, public = self.public
        made = sum(function.made for function in self.functions if function.public)
        return asked_about - made, made, public - asked_about

    @property
    def right(self) -> bool:
        """Whether the oracle, which answers with what was recorded, is right everywhere."""
        return all(kind.scores["oracle"].value == 1 for kind in self.kinds if kind.samples)

    def to_dict(self) -> dict[str, Any]:
        """The fields and what follows from them, JSON-able."""
        told = asdict(self)
        here, there = self.public
        from_tests, made, _ = self.origins
        return told | {
            "samples": self.samples,
            "clusters": self.clusters,
            "public_functions": {
                "asked_about": here,
                "all": there,
                "from_tests": from_tests,
                "from_made_inputs": made,
            },
            "oracle_is_right": self.right,
        }
