"""`deskcheck.context` outside of a kernel: the globals of whoever calls it."""

import json
from typing import Any

import pytest

from deskcheck.errors import InputError
from deskcheck.notebook.state.views import estimate_tokens


def test_among_very_many() -> None:
    """Among 100,000 variables those that are asked for are shown, and it is said how many others were not
    looked at; the newest come first; the budget holds."""
    names: dict[str, Any] = {f"v{n}": [n] for n in range(100_000)}
    space = {"early": 1} | names | {"late": 2}

    def asked(**given: Any) -> str:
        code = f"import deskcheck\nfound = deskcheck.context(time_s=60, **{given!r})"
        exec(code, space)
        return str(space["found"])

    assert asked(names=["early", "v7"], budget=100) == "early: int = 1\nv7: list = [7]\n"
    assert asked(code="late + v3[0]", budget=100).splitlines() == [
        "late: int = 2",
        "v3: list = [3]",
    ]
    text = asked(budget=200)
    assert estimate_tokens(text) <= 200
    assert "v99999" in text
    assert "variables of the kernel)" in text.splitlines()[-1]
    assert "early" not in text
    assert asked(budget=0) == ""


def test_json_and_secrets() -> None:
    """As one JSON object; secrets are taken out unless that is switched off."""
    space = {"db_password": "swordfish-9", "copy": ["swordfish-9"]}
    exec("import deskcheck\nfound = deskcheck.context(form='json', time_s=60)", space)
    found = {row["name"]: row for row in json.loads(str(space.pop("found")))["variables"]}
    assert "swordfish" not in json.dumps(found)
    assert found["db_password"]["type"] == "str"
    exec("found = deskcheck.context(['copy'], mask=False)", space)
    assert "swordfish-9" in str(space["found"])


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"names": "x"}, r"names='x' must be several names, as \['x'\]"),
        ({"names": ["nothing"]}, "unknown variable 'nothing'"),
        ({"names": ["a", "_"], "time_s": 60}, "^_: names that IPython assigns are not shown"),
        ({"names": ["__name__"], "code": "x"}, "give either names or code"),
        ({"budget": -1}, "budget=-1 must be at least 0"),
        ({"form": "xml"}, "form='xml' must be text or json"),
    ],
)
def test_wrong_words(asked: dict[str, Any], said: str) -> None:
    """What cannot be meant is refused with the value and the way out."""
    with pytest.raises(InputError, match=said):
        exec(f"import deskcheck\ndeskcheck.context(**{asked!r})", {"__name__": "somewhere", "a": 1, "_": 2})


def test_tensors() -> None:
    """Shape, dtype and the first numbers of a tensor, as torch itself says; of a class of the user's nothing
    runs."""
    torch: Any = pytest.importorskip("torch", reason="would have proved that tensors are described")

    class Own(torch.Tensor):  # type: ignore[misc]
        def __getitem__(self, place: Any) -> Any:
            raise AssertionError("it ran")

    space: dict[str, Any] = {
        "w": torch.nn.Parameter(torch.tensor([[1.5, -2.0], [float("nan"), 1 / 3]])),
        "mask": torch.arange(30).reshape(5, 6) > 3,
        "scalar": torch.tensor(7),
        "none": torch.zeros(0, 3),
        "sparse": torch.eye(3).to_sparse(),
        "meta": torch.zeros(2, device="meta"),
        "own": torch.ones(2).as_subclass(Own),
    }
    exec("import deskcheck\nfound = deskcheck.context(form='json', time_s=60)", space)
    rows = {row["name"]: row for row in json.loads(str(space.pop("found")))["variables"]}
    for name in ("w", "mask", "scalar", "none", "sparse", "meta"):
        assert rows[name]["shape"] == list(space[name].shape)
        assert "torch." + rows[name]["dtype"] == str(space[name].dtype)
    assert rows["w"]["value"] == "[[1.5, -2.0], [nan, 0.333333]]"
    assert rows["w"]["rounded"] == 6
    first = space["mask"][0].tolist()
    assert rows["mask"]["value"] == f"[{first}, [True, True, True, True, ... 2 more], ... 3 more]"
    assert "rounded" not in rows["mask"]
    assert (rows["scalar"]["value"], rows["none"]["value"]) == ("7", "[]")
    assert "value" not in rows["sparse"]
    assert "value" not in rows["meta"]
    assert not rows["own"].keys() & {"shape", "value", "described"}
