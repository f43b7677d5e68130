"""Programs in shards: every one once, in order; a change moves little."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from deskcheck.jobs.plan import Item, in_shards
from deskcheck.recorder.settings import RecordSettings
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.determinism import Determinism
from deskcheck.sandbox.limits import Limits
from deskcheck.tracer.limits import Granularity, TraceLimits
from tests.sample import examples

IDS = st.lists(st.text(min_size=1, max_size=8), unique=True, min_size=1, max_size=200)


def shards(ids: list[str], size: int) -> list[list[str]]:
    items = (Item(name, "") for name in ids)
    return [[item.id for item in group] for group in in_shards(items, size) if group is not None]


@settings(deadline=None)
@given(IDS, st.integers(1, 30))
def test_every_program_once_and_in_order(ids: list[str], size: int) -> None:
    """Shards hold every program once, in order; all but the last hold half of `size` to twice that."""
    found = shards(ids, size)
    assert [name for shard in found for name in shard] == ids
    assert all(max(1, size // 2) <= len(shard) <= 2 * size for shard in found[:-1])
    assert 1 <= len(found[-1]) <= 2 * size


@settings(deadline=None, max_examples=examples(20))
@given(st.integers(0, 1999))
def test_a_program_less_moves_few(left_out: int) -> None:
    """With one of 2,000 programs left out nearly all shards are as they were."""
    ids = [f"program {n}" for n in range(2000)]
    before = {tuple(shard) for shard in shards(ids, 50)}
    del ids[left_out]
    after = {tuple(shard) for shard in shards(ids, 50)}
    assert len(before - after) <= len(before) / 3


@given(
    st.builds(
        RecordSettings,
        limits=st.builds(Limits, cpu_s=st.floats(0.1, 100), processes=st.integers(1, 9)),
        trace_limits=st.builds(
            TraceLimits, events=st.integers(1, 99), only=st.lists(st.text(max_size=3), max_size=2)
        ),
        granularity=st.sampled_from(Granularity),
        repeat=st.booleans(),
        runs=st.integers(2, 5),
        determinism=st.builds(
            Determinism, clock=st.none() | st.floats(0, 1e9), turns=st.none() | st.booleans()
        ),
        sandbox=st.sampled_from(Confinement),
        environment=st.none() | st.text(max_size=5),
    )
)
def test_settings_travel_as_json(given_settings: RecordSettings) -> None:
    """What decides a recording is the same on the other side."""
    assert RecordSettings.from_dict(json.loads(json.dumps(given_settings.to_dict()))) == given_settings
