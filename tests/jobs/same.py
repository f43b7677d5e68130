"""What two folders of recordings have in common: all but the times that programs took."""

import hashlib
import json
from pathlib import Path

import pyarrow.parquet as pq

TIMES = ("cpu_s", "wall_s", "first_row")


def digests(folder: Path) -> dict[str, str]:
    """Of each recording, over its row and its events, but for times and where the events are. An id that is
    there twice fails."""
    found: dict[str, str] = {}
    for path in sorted(folder.glob("recordings-*.parquet")):
        events = pq.read_table(path.with_name(path.name.replace("recordings", "events"))).to_pylist()
        for row in pq.read_table(path).to_pylist():
            first, count = row["first_row"], row["n_events"]
            mine = events[first : first + count]
            assert len(mine) == count
            assert all(event["recording"] == row["id"] for event in mine)
            assert row["id"] not in found, f"{row['id']} is there twice"
            kept = {name: value for name, value in row.items() if name not in TIMES}
            text = json.dumps([kept, mine], sort_keys=True)
            found[row["id"]] = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return found


def order(folder: Path) -> list[list[str]]:
    """Ids by shard, as they lie there."""
    paths = sorted(folder.glob("recordings-*.parquet"))
    return [pq.read_table(path, columns=["id"]).column(0).to_pylist() for path in paths]
