"""Every command line whose outputs are frozen, in the order in which they run, and what it leaves behind.

This is the one place that knows how the command line is spelled. Where a flag or a verb gets another name, the
arguments here change and the names of steps stay: digests are kept under those.
"""

from dataclasses import dataclass
from enum import Enum


class Share(Enum):
    """Which runs take a step."""

    QUICK = "in the test suite, and in every other run"
    USUAL = "in every run of `python -m tests.frozen`"
    MORE = "with --more alone"


@dataclass(frozen=True)
class Output:
    """Files that a command leaves, split into items."""

    files: str
    """Pattern below the folder of the run. The ending says how a file is read."""
    key: tuple[str, ...] = ()
    """Columns whose values name an item, of .parquet and .jsonl. Without: each file is one item."""
    order: tuple[str, ...] = ()
    """Columns that order the rows of an item."""


@dataclass(frozen=True)
class Step:
    """One command, run in the folder of the run."""

    name: str
    arguments: tuple[str, ...]
    """After `deskcheck`. A pattern with a star stands for the files that it meets, sorted."""
    outputs: tuple[Output, ...] = ()
    share: Share = Share.USUAL
    needs: tuple[str, ...] = ()
    """Modules without which the command has nothing to do."""
    status: int = 0
    """Its exit status. What ends otherwise is not frozen: it would be an error, for ever the same."""
    terminal: bool = False
    """Whether it prints to a terminal of 80 columns; otherwise to a pipe."""
    same_bytecode: bool = False
    """Whether the outputs are those of one version of CPython alone."""
    module: str = "deskcheck"
    names_all: bool = False
    """Whether it prints names to which other packages add: it is left out where one is installed."""


def recordings(folder: str) -> tuple[Output, ...]:
    """The rows of each recording, and of its events."""
    return (
        Output(f"{folder}/recordings-*.parquet", ("id",)),
        Output(f"{folder}/events-*.parquet", ("recording",), ("thread", "index")),
    )


def lessons(folder: str) -> tuple[Output, ...]:
    """Lessons by program, notation and the event that each is about; and what stands beside them."""
    return (
        Output(f"{folder}/*.parquet", ("program", "notation"), ("index", "jump", "split")),
        Output(f"{folder}/lessons.json"),
    )


def answers(folder: str) -> tuple[Output, ...]:
    """What models were asked, what they answered and how it was scored, and the summary."""
    return (
        Output(f"{folder}/samples.parquet", ("id",), ("model", "solver", "state", "epoch")),
        Output(f"{folder}/questions/*.jsonl", ("id",)),
        Output(f"{folder}/results.json"),
    )


STAND_INS = ("-m", "deskcheck/oracle", "-m", "deskcheck/guess")
KINDS = "output,input,next_line,state,path"
KINDS_OF_RUNS = "output,next_line,state,path"
METHODS = "direct,chain_of_thought,scratchpad,compact,dynamic_scratchpad"
NOTATIONS = "direct,scratchpad,compact,dynamic,cwm,inline,monologue"
NOTEBOOK_KINDS = "cell_output,next_cell"
ASK = ("inspect_ai",)
KERNEL = ("ipykernel", "jupyter_client")

STEPS = (
    # Quick: a small set through the whole road, without any extra.
    Step("record-calls", ("record", "calls.jsonl", "--workers", "1", "--out", "calls", "--json"), recordings("calls"), Share.QUICK),
    Step("record-one", ("record", "programs/class_slots.py"), share=Share.QUICK, terminal=True),
    Step("list", ("list",), share=Share.QUICK, terminal=True, names_all=True),
    Step("list-json", ("list", "--json"), share=Share.QUICK, names_all=True),
    Step("view-list", ("view", "calls"), share=Share.QUICK, terminal=True),
    Step("view-list-json", ("view", "calls", "--json"), share=Share.QUICK),
    Step("view-one", ("view", "calls", "gcd_1_0", "--terminal"), share=Share.QUICK, terminal=True),
    Step("questions", ("offline", "questions", "calls", "-q", KINDS, "--out", "questions.jsonl", "--json"),
         (Output("questions.jsonl", ("id",)),), Share.QUICK, ASK),
    Step("score", ("offline", "score", "questions.jsonl", "answers.jsonl", "--out", "scores", "--json"),
         (Output("scores/*.parquet", ("id",), ("model",)),), Share.QUICK, ASK),
    # Published sets, and our own programs.
    Step("cruxeval", ("record", "cruxeval:data/cruxeval.jsonl", "--workers", "1", "--out", "crux", "--json"), recordings("crux")),
    Step("mbpp", ("record", "mbpp:data/mbpp.jsonl", "--max-events", "3000", "--out", "mbpp", "--json"), recordings("mbpp")),
    Step("programs", ("record", "programs/*.py", "--no-repeat", "--out", "scripts", "--json"), recordings("scripts")),
    Step("instructions",
         ("record", "cruxeval:data/cruxeval_some.jsonl", "mbpp:data/mbpp_some.jsonl", "programs/c*.py",
          "--granularity", "instruction", "--max-events", "3000", "--out", "instructions", "--json"),
         recordings("instructions"), same_bytecode=True),
    Step("cruxeval-instructions",
         ("record", "cruxeval:data/cruxeval.jsonl", "--granularity", "instruction", "--no-repeat", "--out", "crux_all",
          "--json"), recordings("crux_all"), Share.MORE, same_bytecode=True),
    Step("mbpp-all", ("record", "mbpp:data/mbpp_all.jsonl", "--max-events", "20000", "--out", "mbpp_all", "--json"),
         recordings("mbpp_all"), Share.MORE),
    # Every other source, gaps, and what stands in place of clocks and dice.
    Step("sources",
         ("record", "examples", "generated:20,difficulty=1-9,seed=3", "family:collatz,inputs=2", "family:josephus,inputs=2",
          "heapq", "--workers", "1", "--max-events", "3000", "--out", "sources", "--json"), recordings("sources")),
    Step("mutations",
         ("record", "mutations:calls.jsonl", "--workers", "1", "--cpu-s", "3", "--max-events", "3000",
          "--out", "mutations", "--json"), recordings("mutations")),
    Step("inputs", ("record", "inputs:examples/word_count.py", "--out", "inputs", "--json"),
         recordings("inputs"), needs=("hypothesis",)),
    Step("tests", ("record", "pytest:project", "--out", "tests", "--json"), recordings("tests"), needs=("pytest",)),
    Step("gaps", ("record", "calls.jsonl", "--only", "walk", "--call-depth", "2", "--max-repetitions", "2",
                  "--out", "gaps", "--json"), recordings("gaps")),
    Step("fixed", ("record", "draws.py", "--clock", "2024-02-29", "--random-seed", "0", "--turns", "--out", "fixed",
                   "--json"), recordings("fixed")),
    Step("not-repeatable", ("record", "draws.py", "--out", "drawn", "--json")),
    Step("errors", ("record", "nosuch"), status=2),
    # Folders of recordings.
    Step("job", ("record", "generated:30,difficulty=1-3,inputs=1,seed=7", "--workers", "1", "--shards", "10", "--out", "job", "--json"),
         recordings("job")),
    Step("status", ("runs", "status", "job"), terminal=True),
    Step("status-json", ("runs", "status", "job", "--failures", "--verify", "--json")),
    Step("compact", ("runs", "compact", "job", "--shards", "20", "--json"), recordings("job")),
    Step("check", ("runs", "check", "crux"), terminal=True),
    Step("check-json", ("runs", "check", "crux", "--json")),
    Step("check-against", ("runs", "check", "calls", "--against", "reference", "--sample", "0.3", "--json")),
    Step("dedup", ("runs", "dedup", "calls", "mutations", "sources", "--out", "each_once", "--json"), recordings("each_once")),
    Step("export", ("runs", "export", "hf", "calls", "--any-licence", "--out", "set", "--json"), (Output("set/**/*.md"),)),
    Step("view-json", ("view", "calls", "gcd_1_0", "--json")),
    Step("view-page", ("view", "calls", "gcd_1_0", "--out", "trace.html"), (Output("trace.html"),)),
    *(Step(f"show-{notation}", ("runs", "show", "calls", "gcd_1_0", "--notation", notation))
      for notation in NOTATIONS.split(",")),
    Step("show-json", ("runs", "show", "calls", "gcd_1_0", "--json")),
    Step("show-instructions",
         ("runs", "show", "instructions", "sample_1", "--notation", "dynamic_instruction"), same_bytecode=True),
    # Lessons.
    Step("lessons", ("lessons", "calls", "--notation", NOTATIONS, "--steps", "3", "--any-licence", "--out", "lessons", "--json"),
         lessons("lessons")),
    Step("lessons-jumps", ("lessons", "job", "--jump", "1,2,4", "--steps", "4", "--by-path", "--any-licence", "--shards", "10",
                           "--out", "jumps", "--json"), lessons("jumps")),
    Step("lessons-instructions",
         ("lessons", "instructions", "--notation", "dynamic_instruction", "--steps", "1", "--any-licence", "--no-ids",
          "--out", "lessons_instructions", "--json"), lessons("lessons_instructions"), same_bytecode=True),
    # Models: the stand-ins, and the one that the package brings.
    Step("ask", ("ask", "crux", "calls", "-q", KINDS, "--method", "direct,chain_of_thought", *STAND_INS,
                 "--limit", "4", "--per-recording", "1", "--out", "asked", "--json"), answers("asked"), needs=ASK),
    Step("ask-runs", ("ask", "crux", "calls", "-q", KINDS_OF_RUNS, "--method", METHODS, *STAND_INS, "--limit", "3",
                      "--per-recording", "1", "--out", "asked_runs", "--json"), answers("asked_runs"), needs=ASK),
    Step("ask-again", ("ask", "crux", "calls", "-q", KINDS, "--method", "direct,chain_of_thought", *STAND_INS,
                       "--limit", "4", "--per-recording", "1", "--out", "asked"), needs=ASK, terminal=True),
    Step("ask-more", ("ask", "crux", "-q", KINDS, *STAND_INS, "-m", "deskcheck/erring", "--limit", "100",
                      "--out", "asked_more", "--json"), answers("asked_more"), Share.MORE, ASK),
    Step("report", ("report", "asked", "asked_runs", "--terminal"), needs=ASK, terminal=True),
    Step("report-json", ("report", "asked", "asked_runs", "--json"), needs=ASK),
    Step("report-markdown", ("report", "asked", "asked_runs", "--table", "markdown"), needs=ASK),
    Step("report-page", ("report", "asked", "asked_runs", "--out", "report.html"), (Output("report.html"),), needs=ASK),
    Step("step", ("models", "step", "job", "--budget", "40", "--out", "stepped.json", "--json"),
         (Output("stepped.json"),), needs=("onnxruntime",)),
    # Notebooks.
    Step("notebooks", ("record", "notebooks/fails.ipynb", "notebooks/long.ipynb", "notebooks/rich.ipynb", "notebooks/state.ipynb", "--out", "books", "--json"),
         (Output("books/*.parquet"),), needs=KERNEL),
    Step("notebooks-view", ("view", "books", "state", "--terminal"), needs=KERNEL, terminal=True),
    Step("notebooks-check",
         ("notebooks", "check", "notebooks", "--json", "checked.json", "--html", "checked.html"),
         (Output("checked.json"),), needs=KERNEL, status=1, terminal=True),
    Step("ask-notebooks",
         ("ask", "books", "-q", NOTEBOOK_KINDS, "--state", "none,used,full", *STAND_INS, "--limit", "3",
          "--out", "asked_books", "--json"), answers("asked_books"), needs=(*ASK, *KERNEL)),
    # Facts of the machine: which keys there are.
    Step("doctor-json", ("doctor", "--json")),
    Step("environments-json", ("env", "list", "--json")),
    # Marking by a check in another process, which no command reaches.
    Step("verdicts", (), module="tests.frozen.verdicts"),
)  # fmt: skip
"""In order: a step reads what those before it made."""
