"""Environment variables in events and texts: what is taken out, and what is left."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from deskcheck.recording.block import rows
from deskcheck.recording.secrets import MASKED, EnvironmentMask, secrets_of, variables_around
from deskcheck.recording.trace import Row

PEM = "-----BEGIN KEY-----\nMIIEow\n-----END KEY-----"
ENVIRONMENT = {
    "HOME": "/home/ann",
    "N": "7",
    "PLACE": "gröningen's end",
    "API_KEY": "k3y-of-ann",
    "LANG": "nl_NL.UTF-8",
    "PEM": PEM,
    "EMPTY": "",
    "_": "/usr/bin/make",
}
MASK = EnvironmentMask(ENVIRONMENT)
CUT = {"cut": "masked", "type": "str"}


def masked(objects: object) -> object:
    """The objects of an event without variables."""
    row = Row(0, 0, "line", 0, "f", "f.py", 1, 0, *[None] * 9)
    row = row._replace(objects=json.dumps(objects))
    (found,) = [each for block in MASK.blocks([json.dumps(row).encode()]) for each in rows(block)]
    return json.loads(found.objects or "null")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HOME=/home/ann\nN=7\nM=7", f"{MASKED}\n{MASKED}\nM=7"),
        ("{'N': '7', 'M': '7'}", f"{{'{MASKED}', 'M': '7'}}"),
        ("environ({b'HOME': b'/home/ann'})", f"environ({{b'{MASKED}'}})"),
        ("[('PLACE', \"gröningen's end\")]", f"[('{MASKED}\")]"),
        ("/home/ann", MASKED),
        ("'/home/ann'", f"'{MASKED}'"),
        ("/home/ann/file", "/home/ann/file"),  # a part of a text: only of a secret
        ("curl -H k3y-of-ann", f"curl -H {MASKED}"),
        ("nl_NL.UTF-8 and N=78 and /usr/bin/make", "nl_NL.UTF-8 and N=78 and /usr/bin/make"),
        ("LANG=nl_NL.UTF-8", MASKED),
        ("EMPTY=\n_=/usr/bin/make", f"EMPTY=\n{MASKED}"),
        ("near gröningen's end.", f"near {MASKED}."),
        (f"key:\n{PEM}\n{PEM}", f"key:\n{MASKED}\n{MASKED}"),  # a value of several lines
        (f"key: {PEM!r}", f"key: '{MASKED}'"),
        ("NHOME=/home/ann HOME=/home/annie", "NHOME=/home/ann HOME=/home/annie"),
    ],
)
def test_texts(text: str, expected: str) -> None:
    """A name with its value, a whole value, a secret anywhere."""
    assert MASK.text(text) == expected


def test_values() -> None:
    """Items of dicts, as strings and as bytes; pairs; values; keys that the program added stay."""
    as_bytes = [{"bytes": name} for name in ("HOME", "/home/ann", "MINE", "x")]
    place = [{"bytes": os.fsencode(text).decode("latin-1")} for text in ("PLACE", ENVIRONMENT["PLACE"])]
    found = masked(
        {
            "1": {"kind": "dict", "type": "dict", "items": [as_bytes[:2], as_bytes[2:], place, ["N", "7"]]},
            "2": {"splice": [0, 0, [["EMPTY", ""], ["HOME", "/home/ann:/more"], ["HOME", "/other"]]]},
            "3": {"kind": "list", "type": "list", "items": [{"tuple": ["N", "7"]}, "/home/ann", "7"]},
            "4": {"fields": {"key": "my k3y-of-ann"}},
        }
    )
    assert found == {
        "1": {"kind": "dict", "type": "dict", "items": [[CUT, CUT], as_bytes[2:], [CUT, CUT], [CUT, CUT]]},
        "2": {"splice": [0, 0, [[CUT, CUT], [CUT, CUT], ["HOME", "/other"]]]},
        "3": {
            "kind": "list",
            "type": "list",
            "items": [{"tuple": [CUT, CUT]}, {"str": MASKED, "length": 9, "cut": "masked"}, "7"],
        },
        "4": {"fields": {"key": {"str": f"my {MASKED}", "length": 13, "cut": "masked"}}},
    }


def test_events_without_variables_stay_as_they_are() -> None:
    """Byte for byte, also where the name of a variable stands by itself; and an empty environment masks nothing."""
    row = Row(0, 0, "line", 0, "f", "f.py", 1, 0, *[None] * 9)
    for each in (row, row._replace(locals='{"HOME": "a house"}')):
        block = json.dumps(each, separators=(",", ":")).encode()
        assert [*MASK.blocks([block])] == [block]
    assert EnvironmentMask({}).text("HOME=/home/ann") == "HOME=/home/ann"


def test_a_value_of_several_lines_by_itself() -> None:
    """Is masked as its repr shows it, where neither its name nor its text as it is stands."""
    mask = EnvironmentMask({"CERT": PEM})
    assert mask.text(f"[{PEM!r}, 1]") == f"['{MASKED}', 1]"


def masked_row(**columns: object) -> Row:
    """An event without variables, of whose columns some are given."""
    row = Row(0, 0, "line", 0, "f", "f.py", 1, 0, *[None] * 9)
    texts: dict[str, Any] = {name: json.dumps(value) for name, value in columns.items()}
    row = row._replace(**texts)
    (found,) = [each for block in MASK.blocks([json.dumps(row).encode()]) for each in rows(block)]
    return found


SECRET = "k3y-of-ann"
HIDDEN = {"str": MASKED, "length": len(SECRET), "cut": "masked"}


@pytest.mark.parametrize(
    "name", ["base", "type", "kind", "names", "dtype", "cut", "text", "str", "bytes", "tuple", "ref", "key"]
)
def test_names_that_the_format_uses_too(name: str) -> None:
    """A variable, a global or an attribute may have any name: none hides a value, and none is added."""
    names = {name: SECRET, "other": SECRET, "n": 1}
    without = {name: HIDDEN, "other": HIDDEN, "n": 1}
    found = masked_row(locals=names, globals=names, caller={"frame": 0, "via": "f", "locals": names})
    assert json.loads(found.locals or "") == without
    assert json.loads(found.globals or "") == without
    assert json.loads(found.caller or "") == {"frame": 0, "via": "f", "locals": without}
    content = {"kind": "object", "type": "C", "fields": names}
    assert masked({"1": content, "2": {"fields": names}, "3": None}) == {
        "1": content | {"fields": without},
        "2": {"fields": without},
        "3": None,
    }


def test_the_beginning_of_a_long_value() -> None:
    """Of a value that is longer than what is recorded of one, the beginning is not shown either."""
    secret = "".join(map(str, range(5000)))
    mask = EnvironmentMask({"BIG": secret})
    cut = {"str": secret[:10_000], "length": len(secret), "cut": "long"}
    row = Row(0, 0, "line", 0, "f", "f.py", 1, 0, json.dumps({"a": cut, "b": [1]}), *[None] * 8)
    (found,) = [each for block in mask.blocks([json.dumps(row).encode()]) for each in rows(block)]
    assert json.loads(found.locals or "")["a"] == {"str": MASKED, "length": len(secret), "cut": "masked"}


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("PWD", "/data/project", False),  # the shell's, whether the folder is there or not
        ("OLDPWD", "/data", False),
        ("PWD", "hunter22", True),  # the password of a connection
        ("DB_PWD", "hunter22", True),
        ("DB_PWD", "/hunter22", True),
        ("AUTH_TOKEN", "a1b2c3d4", True),
        ("BASIC_AUTH", "user:hunter22", True),
        ("SSH_AUTH_SOCK", "/tmp/ssh-1/agent.2", False),
        ("XAUTHORITY", "/home/somebody/.Xauthority", False),
        ("AWS_SECRET_ACCESS_KEY", "/wJalrXUtnFEMI/K7MDENG/bPxRfiCY", True),  # begins as a path does
        ("GOOGLE_APPLICATION_CREDENTIALS", __file__, False),  # of a file that is there
        ("SECRETS_DIR", str(Path(__file__).parent), False),
        ("PGPASSWORD", "postgres", False),  # the user's name, which stands under a plain name, too
        ("TOKENIZERS_PARALLELISM", "enabled-for-all", False),
        ("OAUTH", "hunter22", False),
        ("EMPTY_PASSWORD", "", False),
    ],
)
def test_what_is_a_secret(name: str, value: str, secret: bool) -> None:
    assert secrets_of({name: value, "PGUSER": "postgres"}) == ({name: value} if secret else {})


@pytest.mark.parametrize("value", ["default", "Disabled", "true", "basic"])
def test_common_words_stay_in_ordinary_text(value: str) -> None:
    """They are masked beside their name alone."""
    mask = EnvironmentMask(secrets_of({"AUTH_TOKEN": value}))
    assert mask.text(f"by {value} it is {value}") == f"by {value} it is {value}"
    assert mask.text(value) == value
    assert mask.text(f"AUTH_TOKEN={value}") == MASKED


def test_the_working_folder_stays() -> None:
    mask = EnvironmentMask({"PWD": "/data/project", "OLDPWD": "/data/other"})
    assert mask.text("/data/project and /data/other/x") == "/data/project and /data/other/x"
    assert mask.text("/data/project") == "/data/project"


def test_the_names_of_what_was_masked_are_known() -> None:
    mask = EnvironmentMask({"API_KEY": "k3y-of-ann", "DB_PWD": "hunter22", "OTHER_TOKEN": "never-seen"})
    row = Row(0, 0, "line", 0, "f", "f.py", 1, 0, json.dumps({"a": "k3y-of-ann"}), *[None] * 8)
    assert [*mask.blocks([json.dumps(row).encode()])]
    assert mask.masked == {"API_KEY"}
    assert mask.text("no secret") == "no secret"
    mask.text("with hunter22")
    assert mask.masked == {"API_KEY", "DB_PWD"}


def test_variables_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As shells and python-dotenv read it; the environment comes first. A pipe is not waited for."""
    monkeypatch.setenv("FROM_BOTH_TOKEN", "of-the-environment")
    (tmp_path / ".env").write_text(
        "# API_KEY=commented\nAPI_KEY=plain#key # a comment\nexport DB_PWD='with # hash'\n"
        'X_TOKEN = "a \\" quote"\nCERT_SECRET="line 1\nline 2"\nFROM_BOTH_TOKEN=of-the-file\nnothing\n'
    )
    found = variables_around(str(tmp_path), None, str(tmp_path / "nowhere"))
    assert {
        name: found.get(name) for name in ("API_KEY", "DB_PWD", "X_TOKEN", "CERT_SECRET", "FROM_BOTH_TOKEN")
    } == {
        "API_KEY": "plain#key",
        "DB_PWD": "with # hash",
        "X_TOKEN": 'a " quote',
        "CERT_SECRET": "line 1\nline 2",
        "FROM_BOTH_TOKEN": "of-the-environment",
    }
    (tmp_path / ".env").unlink()
    os.mkfifo(tmp_path / ".env")
    assert "API_KEY" not in variables_around(str(tmp_path))
