"""Settings of recordings, for programs, tests and `deskcheck run`."""

from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any

from deskcheck.errors import InputError
from deskcheck.recorder.filters.selection import Flight
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.determinism import Determinism
from deskcheck.sandbox.limits import Limits
from deskcheck.settings import Group, Setting
from deskcheck.tracer.limits import Granularity, TraceLimits

Mask = Annotated[
    bool,
    Setting(
        "Mask secrets in recordings: values of environment variables and of .env files whose names look "
        "secret; in tests the values of all environment variables."
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSettings:
    """The settings that decide the recording of a program.

    With `repeat` there are `runs` traced runs, unless `flight` keeps only a part of the events. All but the
    first seem to run on another machine (`sandbox.elsewhere`). If they differ, further runs find the causes
    (`repeats.causes`). `wall_s` replaces that of `limits`. The program's ``extra`` also names the environment
    or interpreter.

    Raises ValueError if `runs` is less than two, InputError for both an environment and an interpreter.
    """

    granularity: Annotated[Granularity, Setting("Record every line, or also every instruction.")] = (
        Granularity.LINE
    )
    trace_limits: TraceLimits = field(default_factory=TraceLimits)
    limits: Limits = field(default_factory=Limits)
    wall_s: Annotated[
        float | None,
        Setting("Maximum wall time of a run, including sleep (3 times --cpu-s).", min=0.1),
    ] = None
    sandbox: Annotated[
        Confinement, Setting("Confinement of programs. 'trusted': none, for your own code.")
    ] = Confinement.STRICT
    environment: Annotated[
        str | None,
        Setting(
            "Environment (`deskcheck env`) of programs that do not name one. For tests use --python.",
            metavar="NAME",
        ),
    ] = None
    python: Annotated[
        str | None,
        Setting(
            "Interpreter of programs, CPython 3.11 or later. It does not need deskcheck. For tests, an "
            "interpreter with the packages that they need."
        ),
    ] = None
    repeat: Annotated[
        bool,
        Setting(
            "Run everything again: a notebook in another kernel; a program with other hashes, clocks, names "
            "and addresses, and without the tracer. Report differences, and for programs the causes."
        ),
    ] = True
    runs: Annotated[int, Setting("Number of runs to compare.", min=2)] = 2
    mask: Mask = True
    flight: Flight = field(default_factory=Flight)
    determinism: Annotated[Determinism, Group("Clocks and random numbers")] = field(
        default_factory=Determinism
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "sandbox", Confinement(self.sandbox))
        if self.wall_s is not None:
            object.__setattr__(self, "limits", replace(self.limits, wall_s=self.wall_s))
        if self.python is not None and self.environment is not None:
            raise InputError(
                f"--python {self.python} and --environment {self.environment}: leave one of them out. An "
                "environment already has an interpreter."
            )
        if self.runs < 2:
            raise ValueError(f"runs={self.runs} must be at least 2; for a single run set repeat=False")

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON-able values; `from_dict` reads them back."""
        values = {**asdict(self), "granularity": self.granularity.value, "sandbox": self.sandbox.value}
        del values["wall_s"]  # is in the limits
        # Without new fields, so that jobs that were planned before can be resumed.
        if self.python is None:
            del values["python"]
        if self.mask:
            del values["mask"]
        if not self.flight:
            del values["flight"]
        return values

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> "RecordSettings":
        return cls(
            **{
                **row,
                "limits": Limits(**row["limits"]),
                "trace_limits": TraceLimits(**row["trace_limits"]),
                "granularity": Granularity(row["granularity"]),
                "determinism": Determinism(**row["determinism"]),
                "flight": Flight(**row.get("flight", {})),
                "sandbox": Confinement(row["sandbox"]),
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteSettings:
    """The settings that decide which calls of a project's tests are recorded.

    The tests run without a sandbox, and are recorded by line.

    trace_limits: calls with more events are left out. limits: for calls that are made without their test.
    spare_s: CPU seconds for recording in addition to `times`. seed: for the choice among calls of a function.
    """

    calls: Annotated[int, Setting("Maximum number of recorded calls.", min=1)] = 1000
    per_function: Annotated[int, Setting("Maximum number of recorded calls of a function.", min=1)] = 10
    package: Annotated[
        tuple[str, ...],
        Setting("Record functions of this package instead of the project's folder. May be given again."),
    ] = ()
    python: Annotated[str | None, Setting("An interpreter with the packages that the tests need.")] = None
    wall_s: Annotated[float, Setting("Maximum seconds for the tests.", min=1, flag="--suite-s")] = 1800.0
    times: Annotated[
        float,
        Setting(
            "Recording may take N times the CPU time of the tests without recording.",
            min=3,
            flag="--suite-times",
            metavar="N",
        ),
    ] = 20.0
    mask: Mask = True
    repeat: Annotated[
        bool, Setting("Run the tests again with another hash seed, and report calls that differ.")
    ] = True
    trace_limits: TraceLimits = field(default_factory=lambda: TraceLimits(events=5000, objects=5000))
    limits: Limits = field(default_factory=Limits)
    spare_s: float = 0.0
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """The settings of `deskcheck run`, which records code of the file and of modules in its folder."""

    granularity: Annotated[Granularity, Setting("Record every line, or also every instruction.")] = (
        Granularity.LINE
    )
    trace_limits: TraceLimits = field(default_factory=TraceLimits)
    flight: Flight = field(default_factory=Flight)
    mask: Mask = True
