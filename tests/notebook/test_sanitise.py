"""Rules of the user's own, from a file as nbval reads it."""

import json
import re
from pathlib import Path

import pytest

from deskcheck.errors import InputError
from deskcheck.notebook.check.job import _as_json, _from_json
from deskcheck.notebook.check.normalise import NORMALISERS
from deskcheck.notebook.check.sanitise import Replacement, read_sanitisers, sanitiser
from deskcheck.notebook.settings import CheckSettings

NBVALS = Path(__file__).parent / "tested_elsewhere" / "nbval" / "sanitize.cfg"


def test_a_file_of_nbvals_is_read_as_nbval_reads_it(tmp_path: Path) -> None:
    """The same pairs as the expression gives by which nbval 0.11 finds them, also without sections and with empty text."""
    odd = tmp_path / "odd.cfg"
    odd.write_text(
        "regex: a: b  \nreplace: \n# text\nregex: ^\\s*(\\d+)$\nreplace: <\\1>\n[x]\nregex: é\nreplace: e: f\n"
    )
    for file in (NBVALS, odd):
        pairs = re.findall("^regex: (.*)$\n^replace: (.*)$", file.read_text(), re.MULTILINE)
        rules = [rule.rule for rule in read_sanitisers(file)]
        assert [(rule.regex, rule.replace) for rule in rules if isinstance(rule, Replacement)] == pairs
        assert len(rules) == len(pairs) >= 2
    assert [rule.name for rule in read_sanitisers(NBVALS)] == ["sanitize: date and time", "sanitize: process"]
    names = ["sanitize: line 1", "sanitize: line 4", "sanitize: x"]
    assert [rule.name for rule in read_sanitisers(odd)] == names


def test_a_rule_changes_both_texts() -> None:
    rule = sanitiser("sanitize: time", r"(\d+):\d\d", r"\1:MM")
    assert rule("at 10:59", "at 11:01") == ("at 10:MM", "at 11:MM")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("regex: (\nreplace: x\n", "line 2: cannot be used as a rule: missing )"),
        ("regex: a\nreplace: \\2\n", "line 2: cannot be used as a rule: invalid group reference 2"),
        ("regex: a\nregex: b\nreplace: c\n", "line 1: 'regex:' without 'replace:'"),
        ("[a]\nregex: a\n", "line 2: 'regex:' without 'replace:'"),
        ("replace: a\n", "line 1: 'replace:' without 'regex:'"),
        ("", "has no rules"),
    ],
)
def test_a_wrong_file_is_refused(text: str, said: str, tmp_path: Path) -> None:
    """It says in which line, and never leaves a rule out."""
    (tmp_path / "rules.cfg").write_text(text)
    with pytest.raises(InputError, match=re.escape(said)):
        read_sanitisers(tmp_path / "rules.cfg")
    with pytest.raises(InputError, match="cannot be read"):
        read_sanitisers(tmp_path / "none.cfg")


def test_a_job_hands_the_rules_to_other_processes() -> None:
    """Settings come back equal from what is stored in the job's folder."""
    settings = CheckSettings(normalisers=(*read_sanitisers(NBVALS), *NORMALISERS[:3]))
    assert _from_json(json.loads(json.dumps(_as_json(settings)))) == settings
    lax = CheckSettings(lax=True, env=("A",), parameters={"n": 1}, root=Path("/"), normalisers=NORMALISERS)
    assert _from_json(json.loads(json.dumps(_as_json(lax)))) == lax
