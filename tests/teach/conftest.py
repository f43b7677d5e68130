"""Folders of recordings made in this process, by the reference tracer: programs here are our own."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from deskcheck.recording import Mode, Program
from deskcheck.recording.writer import Writer
from deskcheck.tracer import Granularity
from tests.ask.conftest import record_here

# Two workers on two processors: more threads of each wait for one another, and small models take fifty times as long.
os.environ.setdefault("OMP_NUM_THREADS", "1")

Recorded = Callable[..., Path]


def call(id_: str, code: str, arguments: str = "()", **more: Any) -> Program:
    """A call of the `f` that the code defines, cleared for training."""
    known: dict[str, Any] = {"train_ok": True, "source": "ours", "licence": "MIT"} | more
    return Program(id=id_, code=code, mode=Mode.CALL, entry="f", arguments=arguments, **known)


@pytest.fixture
def record(tmp_path: Path) -> Recorded:
    """Records programs into a folder of that name, each by line unless a level is given."""

    def recorded(
        *programs: Program,
        folder: str = "runs",
        granularity: Granularity = Granularity.LINE,
        repeatable: bool | None = True,
    ) -> Path:
        with Writer(tmp_path / folder, shard_recordings=3) as writer:
            for program in programs:
                recording = record_here(program, granularity)
                spool = writer.begin(program)
                for row in recording.trace.rows:
                    spool.write(json.dumps(row))
                environment = replace(recording.environment, granularity=granularity.value)
                spool.finish(recording.run_result, environment, repeatable=repeatable)
        return tmp_path / folder

    return recorded


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """All lessons of a folder, by file."""
    return [row for path in sorted(folder.glob("*.parquet")) for row in pq.read_table(path).to_pylist()]
