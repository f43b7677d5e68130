"""Secrets do not get into a trajectory that is masked."""

import json
import random
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskcheck.errors import InputError
from deskcheck.notebook.state.capture import Capture, StateLimits
from deskcheck.notebook.state.state import states
from deskcheck.notebook.trajectory import masking
from deskcheck.notebook.trajectory.masking import Mask
from deskcheck.notebook.trajectory.trajectory import Execution, Insertion, Output, Status, to_dict
from deskcheck.recording.secrets import MASKED
from tests.sample import spread

TOKENS = [
    "ghp_" + "a1B2" * 9,
    "sk-proj-" + "Zz09" * 6,
    "AKIA" + "ABCD" * 4,
    "hf_" + "abcd" * 6,
    "xoxb-123456789012-abc",
    "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----",
]


def execution(source: str = "", outputs: tuple[Output, ...] = (), **variables: object) -> Execution:
    state = Capture(StateLimits(time_s=60)).after_cell(variables, {}, source)
    return Execution(
        cell="a", source=source, status=Status.OK, order=("a",), outputs=outputs, state=state, count=1
    )


@pytest.mark.parametrize("token", TOKENS, ids=lambda token: token[:5])
def test_secrets_that_show(token: str) -> None:
    """A key of a known form is masked in source, in every kind of output, and in values at any depth."""
    shown = Output(type="display_data", data={"text/plain": token, "application/json": {"a": [token]}})
    said = Output(type="error", name="ValueError", value=f"bad {token}", text=f"Traceback\n{token}")
    step = execution(
        f"call({token!r})",
        (Output(type="stream", text=f"got {token}!\n"), shown, said),
        x={"deep": [token]},
        y=token,
    )
    masked = Mask().step(step)
    text = json.dumps(to_dict(masked), default=str)
    assert token not in text
    assert token.splitlines()[-1] not in text
    assert isinstance(masked, Execution)
    assert masked.outputs[0].text == f"got {MASKED}!\n"
    ((_, state),) = states([masked])
    assert state is not None
    assert state.variables["y"].value.cut == "masked"
    assert state.variables["y"].hash == MASKED


@pytest.mark.parametrize(
    ("source", "masked"),
    [
        ("password = 'abc'", f"password = '{MASKED}'"),
        ('connect(user="me", api_key="k1")', f'connect(user="me", api_key="{MASKED}")'),
        ('os.environ["HF_TOKEN"] = "t"', f'os.environ["HF_TOKEN"] = "{MASKED}"'),
        ("d = {'client_secret': 's'}", f"d = {{'client_secret': '{MASKED}'}}"),
        ("engine = 'db://me:pw@host/x'", f"engine = 'db://{MASKED}@host/x'"),
        ("tokens = 'a b'", "tokens = 'a b'"),
        ("tokenizer = load('gpt')", "tokenizer = load('gpt')"),
        ("password = ask()", "password = ask()"),
    ],
)
def test_secrets_by_name(source: str, masked: str) -> None:
    """What is assigned to a name of a secret is masked, and no other code is touched."""
    assert Mask().text(source) == masked


def test_a_secret_is_masked_wherever_it_stands() -> None:
    """A value seen under a masked name is masked in what was printed, in other variables and in later steps."""
    mask = Mask()
    out = Output(type="stream", name="stdout", text="it is correct-horse\n")
    first = mask.step(
        execution("login(db_password)", (out,), db_password="correct-horse", copy=["correct-horse"], n=1)
    )
    later = mask.step(Insertion(cell="b", source="# correct-horse", position=0, order=("b",)))
    assert "horse" not in json.dumps([to_dict(first), to_dict(later)], default=str)
    ((_, state),) = states([first])
    assert state is not None
    assert (state.variables["db_password"].type, state.variables["db_password"].length) == ("str", None)
    assert state.variables["n"].hash != MASKED


def test_secrets_in_bytes_and_integers() -> None:
    """A key in bytes, alone or as a key of a dict, and a known one that is a large integer: masked, and the
    state can be read."""
    number = 10**30 + 7
    step = execution(
        one=TOKENS[0].encode(), two={TOKENS[0].encode(): number}, api_key=str(number), three=number
    )
    masked = Mask().step(step)
    assert TOKENS[0] not in json.dumps(to_dict(masked))
    assert str(number) not in json.dumps(to_dict(masked))
    ((_, state),) = states([masked])
    assert state is not None
    assert state.variables["one"].value.atom == MASKED.encode()
    assert state.variables["one"].value.length == len(TOKENS[0])
    assert [state.variables[name].value.cut for name in ("one", "three")] == ["masked", "masked"]
    assert state.variables["two"].value.items[0][0].cut == "masked"


def test_a_module_is_no_secret() -> None:
    """The module `secrets` shows nothing but its name."""
    import secrets

    ((_, state),) = states([Mask().step(execution(secrets=secrets, my_secret="hidden-1"))])
    assert state is not None
    assert state.variables["secrets"].value.cut != "masked"
    assert state.variables["my_secret"].value.cut == "masked"


def test_fields_items_and_columns() -> None:
    """Items of dicts and attributes of objects with the name of a secret are masked, whatever they are."""

    class Account:
        def __init__(self) -> None:
            self.name, self.pwd = "me", 1234

    Account.__module__ = "__main__"  # the fields of a library's classes are not recorded
    masked = Mask().step(execution(account=Account(), settings={"auth_token": ["deep-inside"], "port": 5432}))
    assert "deep-inside" not in json.dumps(to_dict(masked), default=str)
    ((_, state),) = states([masked])
    assert state is not None
    account = state.variables["account"].value
    assert (account["name"].atom, account["pwd"].cut) == ("me", "masked")
    items = {key.atom: value for key, value in state.variables["settings"].value.items}
    assert items["auth_token"].cut == "masked"
    assert items["port"].atom == 5432


def test_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The values of environment variables with the names of secrets are masked from the beginning."""
    monkeypatch.setenv("SOME_API_KEY", "from-outside-1")
    monkeypatch.setenv("SOME_PLACE", "somewhere-else")
    assert Mask().text("from-outside-1 somewhere-else") == f"{MASKED} somewhere-else"
    assert Mask().text("X_TOKEN=abcdef PATH=/bin", is_output=True) == f"X_TOKEN={MASKED} PATH=/bin"


def test_patterns_of_the_user() -> None:
    """More names and texts can be given; what is no pattern is refused with its place."""
    mask = Mask(["iban"], [r"\bDE\d{4}\b"])
    assert mask.text("my_iban = 'x1'; y = 'DE1234'") == f"my_iban = '{MASKED}'; y = '{MASKED}'"
    with pytest.raises(InputError, match=r'"\(" is not a regular expression'):
        Mask(["("])


@given(st.text(max_size=60))
def test_ordinary_steps_stay(text: str) -> None:
    """A step without secrets is the same after masking, states and all."""
    step = execution("x", (Output(type="stream", name="stdout", text=text),), x=[text], y={"k": text})
    mask = Mask()
    if mask.text(text, is_output=True) == text:
        assert mask.step(step) == step


@pytest.mark.parametrize(
    "part", spread(["a", "a1", "a-", "0", " ", "a ", "a:", "'", 'a="', "= ", "x\n", "a_token="], 5)
)
def test_long_words(part: str) -> None:
    """The time grows with the length of a text, not with its square."""
    text = "key" + (part * 200_000)[:200_000]
    began = time.process_time()
    assert Mask().text(text, is_output=True).startswith("key")
    assert time.process_time() - began < 10


def test_assignments_are_those_that_a_plain_pattern_finds() -> None:
    """The patterns that are fast find what these, which are easy to read, find in the same texts."""
    literal = r'"(?:[^"\\\n]|\\.)*"|' + r"'(?:[^'\\\n]|\\.)*'"
    plain = {
        masking._ASSIGNED: rf"(?P<name>[^\W\d][\w-]*)[\"']?\s*\]?\s*(?::\s*\w+\s*)?[=:]\s*[A-Za-z]{{0,2}}(?P<value>{literal})",
        masking._SHOWN: r"(?P<name>[^\W\d]\w*)=(?P<value>[^\s'\"]+)",
    }
    parts = [
        "key",
        "x",
        "1",
        "2b",
        "-",
        "_",
        "=",
        ":",
        " ",
        "  ",
        "'",
        '"',
        "'fish'",
        '"f"',
        "]",
        "[",
        "b",
        "\n",
        "\\",
        ".",
        "é",
        "٣",
    ]
    drawn = random.Random(0)
    found = 0
    for _ in range(20_000):
        text = "".join(drawn.choices(parts, k=drawn.randrange(2, 12)))
        for fast, slow in plain.items():
            spans = [(m.span("name"), m.span("value")) for m in re.finditer(slow, text)]
            assert [(m.span("name"), m.span("value")) for m in fast.finditer(text)] == spans, text
            found += len(spans)
    assert found > 1000
