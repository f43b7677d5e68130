"""What is recorded does not depend on where a program's lines end.

`python -m tests.tracer.agree WHAT --layout all` asks the same of more programs, and cuts down those that it finds.
"""

import random
import re
import subprocess
import sys
import sysconfig
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deskcheck.recording import Program
from deskcheck.tracer import TraceLimits
from tests.sample import examples, spread
from tests.tracer import agree
from tests.tracer._templates import PRELOADED
from tests.tracer.generated import program_of_seed
from tests.tracer.layouts import LAYOUTS, broken, in_layout, laid_out, same_tree
from tests.tracer.process import needs_native
from tests.tracer.test_native import assert_agreed

SETTING = agree.Setting(limits=TraceLimits(events=3_000), seconds=30)

# -- the layouts themselves ---------------------------------------------------------------------------


def _library(every: int, start: int = 0) -> list[Path]:
    """Modules of the standard library."""
    return sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[start::every]


@pytest.mark.parametrize(
    "paths",
    [
        pytest.param(agree.own_programs()[::5], id="some of ours"),
        pytest.param(_library(60), id="some of the library"),
        pytest.param(agree.own_programs(), id="all of ours", marks=pytest.mark.slow),
        *(
            pytest.param(_library(20, start), id=f"the library {start}", marks=pytest.mark.exhaustive)
            for start in range(20)
        ),
    ],
)
def test_a_layout_changes_no_tree(paths: list[Path | Program]) -> None:
    """Programs broken over lines are, but for positions, the same programs; and they are broken over more lines."""
    for path in paths:
        text = path.code if isinstance(path, Program) else path.read_text(encoding="utf-8")
        for layout in ("broken", "some"):
            new = in_layout(text, layout)
            if new is None:  # Python itself cannot compile it
                continue
            assert same_tree(text, new)
            assert new.count("\n") > text.count("\n") or text.count("(") < 2


@settings(max_examples=examples(4), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10_000), st.integers(0, 10_000), st.floats(0, 1))
def test_no_line_break_changes_a_tree(seed: int, choices: int, share: float) -> None:
    """Wherever the lines of programs that nobody wrote end."""
    text = program_of_seed(f"layouts-{seed}", 60)
    choice = random.Random(choices)
    assert same_tree(text, broken(text, lambda before, after: choice.random() < share))


def test_every_place_is_broken() -> None:
    """A statement of each kind."""
    text = (
        "import a, b\n@d(1)\nclass C(A, k=b):\n    x: int = 1 + 2\nwith f(x) as y, z: return_ = -x\n"
        "for i in a, *b: del a.b, c[d:1]\nasync def g(p=1, *, q: int) -> int:\n    return await p, q\n"
        "if a < b <= c and not d: raise E(1) from e\nassert a, f'{b!r}' 'c'\nfrom m import n as o, p\n"
        "x = y = lambda k, *l: k if l else [m for m in l if m]\n"
    )
    assert broken(text).replace("\n", "|") == (
        "import a, b|@(|d|(|1|)|)|class C(|A|,|k|=|b|):|    x: (|int|) = (|1|+|2|)|"
        "with (|(|f|(|x|)|)|as|(|y|)|,|(|z|)|): (|return_|) = (|-|x|)|"
        "for (|i|) in (|a|,|*|b|): del (|a|.|b|), (|c|[|d|:|1|]|)|"
        "async def g(|p|=|1|,|*|,|q|:|int|) -> (|int|):|    return (|await|p|,|q|)|"
        "if (|a|<|b|<=|c|and|not|d|): raise (|E|(|1|)|) from (|e|)|assert (|a|), (|f'{b!r}'|'c'|)|"
        "from m import (|n|as|o|,|p|)|(|x|) = (|y|) = (|lambda|k|,|*|l|:|k|if|l|else|[|m|for|m|in|l|if|m|]|)|"
    )


@pytest.mark.parametrize("program", spread(agree.own_programs(), 25, 5), ids=lambda program: program.id)
def test_stars_change_no_output(program: Program) -> None:
    """A program whose displays and calls are starred prints the same."""
    if _shows_lines(program.code):
        pytest.skip(f"{program.id} shows its own text or lines: a layout is for it to see")
    if re.search(r"__del__|\bgc\.", program.code):
        pytest.skip(f"{program.id} shows when objects die: the tuple of a starred call holds them longer")
    starred = in_layout(program.code, "stars")
    if starred is None:
        pytest.skip(f"{program.id} cannot be written by ast")
    assert _printed(program.code) == _printed(starred)


def _shows_lines(text: str) -> bool:
    return (
        re.search(r"traceback|inspect|settrace|lineno|f_l|__file__|monitoring|profile|code|warn", text)
        is not None
    )


def _printed(text: str) -> str:
    run = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=False,
        env={"PYTHONHASHSEED": "0"}, timeout=60,
    )  # fmt: skip
    return re.sub(r"0x[0-9a-f]+", "0x", run.stdout)


# -- the gate -----------------------------------------------------------------------------------------


def assert_all_agree(programs: list[Program], setting: agree.Setting = SETTING) -> None:
    """Native and reference tell the same, locals and value stack, of every program in every layout."""
    assert assert_agreed(laid_out(programs, LAYOUTS), setting) > len(programs)


@needs_native
@pytest.mark.parametrize(
    "programs", spread([agree.own_programs()[start::120] for start in range(120)], 120, 30)
)
def test_programs_of_ours(programs: list[Program]) -> None:
    """Those of tests/programs."""
    assert_all_agree(programs)


@needs_native
@pytest.mark.parametrize(
    ("name", "every"),
    [
        ("cruxeval", 75),
        *(pytest.param(*row, marks=pytest.mark.slow) for row in [("cruxeval", 40), ("humaneval", 41)]),
        *(
            pytest.param(*row, marks=pytest.mark.exhaustive)
            for row in [("cruxeval", 1), ("mbpp", 1), ("humaneval", 1), ("p3", 20)]
        ),
    ],
)
def test_published_sets(name: str, every: int) -> None:
    """A sample of the sets that recordings are made of."""
    if not (agree.SHARED / agree.SETS[name]).exists():
        pytest.skip(f"no {name} here (DESKCHECK_SHARED): would show that layouts of published programs agree")
    assert_all_agree(agree.published(name)[::every])


@needs_native
@pytest.mark.parametrize("count", [pytest.param(60, marks=pytest.mark.exhaustive)])
def test_programs_that_nobody_wrote(count: int) -> None:
    """Generated ones."""
    programs = list(agree.generated(count, seed=11, budget=60))
    assert_all_agree(programs, setting=replace(SETTING, imports=PRELOADED))
