"""What decides recordings beside what is recorded: for programs, tests and benchmarks."""

from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any

from deskcheck.errors import InputError
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.determinism import Determinism
from deskcheck.sandbox.limits import Limits
from deskcheck.settings import Setting
from deskcheck.tracer.limits import Granularity, TraceLimits

Mask = Annotated[
    bool,
    Setting(
        "Take secrets out of what is recorded: values of environment variables and of .env files, by their "
        "names; in tests of all environment variables."
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSettings:
    """The settings that decide the recording of a program.

    With `repeat` there are `runs` traced runs, all but the first on another machine (`sandbox.elsewhere`);
    where they differ, further runs find the causes (`repeats.causes`). wall_s: instead of that of `limits`.
    The program's ``extra`` names the environment or interpreter, too.

    Raises ValueError where `runs` is less than two, InputError for both an environment and an interpreter.
    """

    granularity: Annotated[Granularity, Setting("Record every line, or also every instruction.")] = (
        Granularity.LINE
    )
    trace_limits: TraceLimits = field(default_factory=TraceLimits)
    limits: Limits = field(default_factory=Limits)
    wall_s: Annotated[
        float | None,
        Setting("Wall time that a run may take, also while it sleeps (3 times --cpu-s).", min=0.1),
    ] = None
    sandbox: Annotated[
        Confinement, Setting("How closely programs are confined. 'trusted': not at all, for your own code.")
    ] = Confinement.STRICT
    environment: Annotated[
        str | None,
        Setting(
            "The environment (`deskcheck env`) for programs that name none. For tests use --python.",
            metavar="NAME",
        ),
    ] = None
    python: Annotated[
        str | None,
        Setting(
            "The interpreter of programs, any CPython from 3.11 on. deskcheck need not be installed "
            "there. For tests, the interpreter that has what they need."
        ),
    ] = None
    repeat: Annotated[
        bool,
        Setting(
            "Run each again, a notebook in another kernel, a program with other hashes, clocks, names and "
            "addresses, and without the tracer. Say where the runs differ, and for programs also why."
        ),
    ] = True
    runs: Annotated[int, Setting("Runs of each that are compared.", min=2)] = 2
    mask: Mask = True
    determinism: Determinism = field(default_factory=Determinism)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sandbox", Confinement(self.sandbox))
        if self.wall_s is not None:
            object.__setattr__(self, "limits", replace(self.limits, wall_s=self.wall_s))
        if self.python is not None and self.environment is not None:
            raise InputError(
                f"--python {self.python} and --environment {self.environment}: an environment has its own "
                "interpreter. Leave one of them out."
            )
        if self.runs < 2:
            raise ValueError(
                f"runs={self.runs} must be at least two; for one that is not compared, repeat=False"
            )

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON-able values; `from_dict` reads them back."""
        values = {**asdict(self), "granularity": self.granularity.value, "sandbox": self.sandbox.value}
        del values["wall_s"]  # the limits say it
        # A job that was planned before there were these fields goes on.
        if self.python is None:
            del values["python"]
        if self.mask:
            del values["mask"]
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
                "sandbox": Confinement(row["sandbox"]),
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteSettings:
    """The settings that decide which calls of a project's tests are recorded.

    The tests run as their owner runs them: at line level, not confined. trace_limits: a call with more events
    is left out. limits: of calls that are made alone. spare_s: CPU seconds for recording in addition to
    `times`. seed: of the choice among the calls of a function.
    """

    calls: Annotated[int, Setting("Calls that are kept in all.", min=1)] = 1000
    per_function: Annotated[int, Setting("Calls of one function that are kept.", min=1)] = 10
    package: Annotated[
        tuple[str, ...],
        Setting(
            "A package whose functions are recorded, instead of the project's folder. May be given again."
        ),
    ] = ()
    python: Annotated[str | None, Setting("The interpreter that has what the tests need.")] = None
    wall_s: Annotated[float, Setting("Seconds that the tests may take.", min=1, flag="--suite-s")] = 1800.0
    times: Annotated[
        float,
        Setting(
            "Recording may take N times the CPU time that the tests take by themselves.",
            min=3,
            flag="--suite-times",
            metavar="N",
        ),
    ] = 20.0
    mask: Mask = True
    repeat: Annotated[
        bool, Setting("Run the tests again under another hash seed, and say which calls differ.")
    ] = True
    trace_limits: TraceLimits = field(default_factory=lambda: TraceLimits(events=5000, objects=5000))
    limits: Limits = field(default_factory=Limits)
    spare_s: float = 0.0
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """The settings of `deskcheck run`. Code of the file and of modules in its folder is recorded."""

    granularity: Annotated[Granularity, Setting("Record every line, or also every instruction.")] = (
        Granularity.LINE
    )
    trace_limits: TraceLimits = field(default_factory=TraceLimits)
    mask: Mask = True
