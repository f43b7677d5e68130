"""The attacks: what each says of itself, and the program text that a harness is given.

An attack is a file in `programs` that defines ``attack()``, which returns True if it got what it wanted and
nothing else shows it; the program then gives the right answer, and a wrong one otherwise: so a verdict of
"passed" is always a success of the attacker's. ``heir()`` is run as the next program, with the same answer
for what the first one left it. An attack on the verdict itself may define ``answer(n)``, what the program
answers: it is not told what is right.

The first word of the file's name is one of `FAMILIES`. Its docstring says in its first line, one sentence,
what is tried, and then, each in a line that ends with a full stop: ``Seen``, ``Stopped at``, ``Verdict`` and,
where it does not succeed everywhere, ``Works`` (the fields of `Attack`). ``target`` is there, by `prelude.py`.
To run a new one in the sandbox, and without any, where it must get through:

    python -m tests.attacks.runner strict --only NAME
    python -m tests.attacks.runner bare --only NAME

The last line says how many got through; the exit status is 0 whatever it is.
"""

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FAMILIES = {
    "caller": "who reads what a program says",
    "crash": "the interpreter, to be taken for another's failure",
    "descriptor": "what a process is born with",
    "file": "files outside",
    "forge": "the verdict",
    "kernel": "calls of the kernel that open holes",
    "memory": "memory",
    "net": "other machines, and listeners on this one",
    "next": "the program after it",
    "other": "other processes, and what they share",
    "output": "who keeps its output and answers",
    "proc": "what /proc tells",
    "process": "being ended with its verdict",
    "signal": "other processes, by signals",
    "time": "limits on time",
}
"""The first word of an attack's name, and what is aimed at."""
HERE = Path(__file__).resolve().parent
ASKED = 41
_FIELD = re.compile(r"^(Seen|Stopped at|Works|Verdict): (.*)\.$", re.MULTILINE)
_END = """

def solve(n):
    return {call}
"""


@dataclass(frozen=True, slots=True)
class Attack:
    """One hostile program.

    tries: what, in a sentence. seen: how its success shows from outside. stopped: the levels of our
    sandbox that must stop it; none where docs/explanation/sandbox.md says that it is not stopped. works: where it succeeds without any sandbox, empty for everywhere.
    verdicts: our outcomes that are right for it, in words of `Outcome`.
    """

    name: str
    text: str
    tries: str
    seen: str
    stopped: frozenset[str]
    works: str
    verdicts: frozenset[str]
    has_heir: bool
    answers: bool

    @property
    def family(self) -> str:
        return self.name.partition("_")[0]

    def source(self, facts: dict[str, Any], right: int) -> str:
        """The program, aimed at these facts (`prelude.py`)."""
        call = "answer(n)" if self.answers else f"{right} if attack() is True else n"
        return _program(self.text, facts, call)

    def heir(self, facts: dict[str, Any], right: int) -> str:
        """The program that comes after it."""
        return _program(self.text, facts, f"{right} if heir() is True else n")


def _program(text: str, facts: dict[str, Any], call: str) -> str:
    prelude = (HERE / "prelude.py").read_text(encoding="utf-8").replace("FACTS", repr(facts))
    return prelude + "\n\n" + text + _END.format(call=call)


def _read(path: Path) -> Attack:
    """Raises ValueError where the name or the docstring is not as the text above says."""
    if (family := path.stem.partition("_")[0]) not in FAMILIES:
        raise ValueError(f"{path.name}: {family!r} is none of the families {', '.join(FAMILIES)}")
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    docstring = ast.get_docstring(tree) or ""
    fields = dict(_FIELD.findall(docstring))
    missing = {"Seen", "Stopped at", "Verdict"} - set(fields)
    if missing:
        raise ValueError(f"{path.name}: its docstring does not say {', '.join(sorted(missing))}")
    tries = docstring.partition("\n")[0]
    if not tries.endswith("."):
        raise ValueError(f"{path.name}: the first line of its docstring must be a whole sentence: {tries!r}")
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    return Attack(
        name=path.stem,
        text=text,
        tries=tries,
        seen=fields["Seen"],
        stopped=frozenset(fields["Stopped at"].split(", ")) - {"nothing"},
        works=fields.get("Works", ""),
        verdicts=frozenset(fields["Verdict"].split(", ")),
        has_heir="heir" in functions,
        answers="answer" in functions,
    )


def must_stop(attack: Attack, harness: str) -> bool:
    """Whether a sandbox of ours (`host.HARNESSES`) has to stop it.

    An attack asks whether it may signal the server. At `strict`, as the same user and without Landlock's word on
    signals, it may, and the kernel drops what it sends (pid_namespaces(7)).
    """
    level, _, rest = harness.partition("-")
    dropped = level == "strict" and rest.startswith("abi") and attack.name == "signal_everybody"
    return level in attack.stopped and not dropped


def attacks() -> list[Attack]:
    """All of them, by name."""
    return [_read(path) for path in sorted((HERE / "programs").glob("*.py"))]
