"""Settings of libraries, as they are compared where cells are tried out."""

import importlib
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from deskcheck.errors import SandboxError
from deskcheck.notebook.state import settings
from deskcheck.notebook.state.settings import LibrarySetting, changed, read_settings
from deskcheck.notebook.trial.trial import Trials
from tests.notebook.trying import notebook, tried

CHANGES = [
    # what sets something, what sets it back, what is another then
    ("sys.setrecursionlimit(sys.getrecursionlimit() + 7)", "sys.setrecursionlimit(sys.getrecursionlimit() - 7)", {"sys: recursion limit"}),
    ("sys.path.append('here')", "sys.path.pop()", {"sys: path"}),
    ("os.environ['NEW'] = '1'", "del os.environ['NEW']", {"os: NEW"}),
    ("at = os.getcwd(); os.chdir('/')", "os.chdir(at)", {"os: current folder"}),
    ("at = random.getstate(); random.random()", "random.setstate(at)", {"random: position"}),
    ("at = warnings.filters[:]; warnings.simplefilter('module')", "warnings.filters[:] = at", {"warnings: filters"}),
    ("at = warnings.filters[:]; warnings.filterwarnings('error', 'a')", "warnings.filters[:] = at", None),
    ("at = warnings.warn; warnings.warn = lambda *a: None", "warnings.warn = at", {"warnings: warn"}),
    ("at = logging.root.level; logging.root.setLevel(7)", "logging.root.setLevel(at)", {"logging: level"}),
    ("logging.getLogger('mine').setLevel(7)", "logging.getLogger('mine').setLevel(0)", {"logging: mine"}),
    ("decimal.getcontext().prec += 1", "decimal.getcontext().prec -= 1", {"decimal: prec"}),
    ("at = numpy.get_printoptions()['precision']; numpy.set_printoptions(precision=3)", "numpy.set_printoptions(precision=at)", {"numpy: precision"}),
    ("numpy.set_printoptions(formatter={'int': lambda n: '?'})", "numpy.set_printoptions(formatter=None)", {"numpy: formatter"}),
    ("at = numpy.seterr(over='ignore')", "numpy.seterr(**at)", {"numpy: errors, over"}),
    ("at = numpy.random.get_state(); numpy.random.rand()", "numpy.random.set_state(at)", {"numpy.random: position"}),
    ("pandas.set_option('display.max_rows', 7)", "pandas.reset_option('display.max_rows')", {"pandas: display.max_rows"}),
    ("pandas.options.display.float_format = '{:.1f}'.format", "pandas.options.display.float_format = None", {"pandas: display.float_format"}),
    ("at = matplotlib.rcParams['figure.dpi']; matplotlib.rc('figure', dpi=77)", "matplotlib.rc('figure', dpi=at)", {"matplotlib: figure.dpi"}),
    ("at = matplotlib.rcParams['axes.prop_cycle']; matplotlib.rc('axes', prop_cycle=at[:3])", "matplotlib.rc('axes', prop_cycle=at)", {"matplotlib: axes.prop_cycle"}),
    ("sklearn.set_config(display='text')", "sklearn.set_config(display='diagram')", {"sklearn: display"}),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_what_a_library_is_set_to(number: int) -> None:
    """What is set is seen, that alone, and set back it is as it was."""
    change, undo, expected = CHANGES[number]
    names: dict[str, Any] = {}
    for library in (
        "sys",
        "os",
        "random",
        "warnings",
        "logging",
        "decimal",
        "numpy",
        "pandas",
        "matplotlib",
        "sklearn",
    ):
        if library + "." in change:
            names[library] = pytest.importorskip(
                library, reason="would have proved that its settings are seen"
            )
    if "numpy.random" in change:
        importlib.import_module("numpy.random")
    before = read_settings(names)
    exec(change, names)
    after = read_settings(names)
    exec(undo, names)
    found = changed(before, after)
    if expected is None:
        assert [(name[:18], each.incidental) for name, each in found.items()] == [
            ("warnings: filter a", True)
        ]
    else:
        assert {*found} == expected
    assert changed(before, read_settings(names)) == {}


def test_functions_of_the_users() -> None:
    """As a setting they count by what they do, however they are called; those of libraries by their name."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec("def f(x): return x + 1\ndef g(y): return y + 1\ndef h(x): return x + 2\nk = lambda x: x + 1", names)
    texts = {name: settings._text({"int": names[name]}, names) for name in "fghk"}
    assert texts["f"] != texts["h"]
    assert texts["f"] == texts["k"]
    assert (
        len({settings._text(each, names) for each in (repr, ascii, str, "{:.1f}".format, "{:.2f}".format)})
        == 5
    )


def test_what_a_notebook_has_replaced_is_not_called() -> None:
    """Then that it was replaced is the setting."""
    numpy = pytest.importorskip("numpy", reason="would have proved that no code of the user's runs")
    at, called = numpy.get_printoptions, []

    def mine() -> dict[str, int]:
        called.append(1)
        return {}

    mine.__module__ = "__main__"
    try:
        numpy.get_printoptions = mine
        found = read_settings({})
    finally:
        numpy.get_printoptions = at
    assert called == []
    assert found["numpy: _numpy"].value == "'_ReplacedError: get_printoptions'"


def test_large_values_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the number of settings and in the length of each; what a reader raises is what is seen."""
    module, vast = types.ModuleType("vast"), "x" * 10**7
    monkeypatch.setitem(sys.modules, "vast", module)
    monkeypatch.setattr(settings, "_readers", {})
    settings.register_settings("vast", lambda module: dict.fromkeys(map(str, range(5000)), vast))
    settings.register_settings("absent", lambda module: {"never": 1})

    def broken(module: Any) -> dict[str, Any]:
        raise KeyError("key")

    settings.register_settings("vast", broken, incidental=True)
    found = read_settings({})
    assert len(found) == settings._MOST + 1
    assert max(len(each.value or "") for each in found.values()) < 250
    assert found["vast: broken"] == LibrarySetting("\"KeyError: 'key'\"", incidental=True)


def test_what_has_come_and_gone() -> None:
    """It is said of each whether it was there before."""
    before = {"a: x": LibrarySetting("1"), "a: y": LibrarySetting("1"), "a: z": LibrarySetting("1")}
    after = {
        "a: x": LibrarySetting("1"),
        "a: y": LibrarySetting("2"),
        "b: x": LibrarySetting("1", incidental=True),
    }
    assert changed(before, after) == {
        "a: y": LibrarySetting("2"),
        "b: x": LibrarySetting("1", incidental=True, new=True),
        "a: z": LibrarySetting(None),
    }


def test_further_libraries(tmp_path: Path) -> None:
    """A module that registers a library's settings is named to the trials, which then compare them."""
    pytest.importorskip("IPython", reason="would have proved that registered settings are compared")
    around = tmp_path / "around"
    around.mkdir()
    (around / "lab.py").write_text("level = 1\n")
    (around / "lab_settings.py").write_text(
        "from deskcheck.notebook import register_settings\n"
        "register_settings('lab', lambda module: {'level': module.level})\n"
    )
    given = notebook("import lab", "lab.level = 2\n1", "lab")
    for modules in ((), ("lab_settings",)):
        with Trials(given, folder=around, modules=modules) as trials:
            marked = trials.at(1).score("lab.level = 3\n1")
            assert [(each.name, each.detail) for each in marked.why] == [("lab: level", "3, not 2")] * len(
                modules
            )
    with (
        Trials(given, modules=("lab_settings",)) as trials,
        pytest.raises(SandboxError, match="lab_settings"),
    ):
        trials.at(1).run("1")


@pytest.mark.parametrize(
    ("true", "candidate", "score"),
    [
        ("import numpy as np", "import numpy as np\nnp.random.seed(1)", 1),
        ("import numpy as np\nnp.random.seed(1)", "import numpy as np\nnp.random.seed(1)", 1),
        ("import numpy as np\nnp.random.seed(1)", "import numpy as np\nnp.random.seed(2)", 0),
        ("import numpy as np\nnp.random.seed(1)", "import numpy as np", 0),
        (
            "import numpy as np\nnp.random.seed(1)",
            "import numpy as np\nfrom numpy import random as r\nr.seed(1)",
            1,
        ),
    ],
)
def test_a_library_that_the_cell_imports(true: str, candidate: str, score: int) -> None:
    """Its generator counts where the true cell seeds it, and not where the system does."""
    pytest.importorskip("numpy", reason="would have proved that seeds count")
    pytest.importorskip("IPython", reason="would have proved that seeds count")
    with tried("x = 1", true, "np", at=1) as place:
        assert place.refusal is None
        assert place.score(candidate).score == score
