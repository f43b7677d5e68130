"""Commands of `runs` that write other folders and files: `dedup`, `states` and `export`."""

import csv
import io
import json
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from deskcheck.cli.common.output import Json, progress_bar, refuse_unwritable, say
from deskcheck.errors import InputError


def dedup(
    folders: Annotated[list[Path], typer.Argument(metavar="RUNS...", help="Folders of recordings.")],
    out: Annotated[
        Path, typer.Option("--out", help="Folder for the remaining recordings; it must not exist.")
    ],
    near: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Also leave out near copies of programs: those that share at least this part of their token "
            "sequences with an earlier one (such as 0.8). By default only equal runs.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Combine recordings in one folder, without duplicate runs. Prints the reasons of omissions."""
    from deskcheck.sources.duplicates import LIST_NAME, deduplicate

    with progress_bar(as_json) as advance:
        deduplicated = deduplicate(
            folders, out, near=near, progress=lambda count, total: advance("recordings", count, total)
        )
    if as_json:
        print(json.dumps(deduplicated.to_dict()))
        return
    recordings = f"{deduplicated.kept} of {deduplicated.recordings} recordings"
    print(f"{recordings}, of {deduplicated.programs} programs, in {out}")
    for reason, count in deduplicated.dropped.items():
        print(f"left out: {count} {reason}")
    if deduplicated.dropped:
        print(f"each with its duplicate: {out / LIST_NAME}")


def states(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder of recordings.")],
    variable: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only the variable with this name.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write a .parquet, .csv or .jsonl file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Print or write the value of every variable at every event, one row for each (deskcheck help format)."""
    from deskcheck.recording.reader import Recordings

    if out is not None and out.suffix not in _WRITERS:
        raise InputError(f"{out}: the name must end in {', '.join(_WRITERS)}.")
    if out is not None:
        refuse_unwritable(out)
    batches = Recordings(folder).states(variable)
    if out is None:
        rows = (row for batch in batches for row in batch.to_pylist())
        for row in rows:
            place = f"{row['recording']}  {row['index']}  {row['function']} line {row['line']}"
            print(json.dumps(row) if as_json else f"{place}  {row['variable']} = {row['value']}")
        return
    count = _WRITERS[out.suffix](out, batches)
    print(json.dumps({"rows": count}) if as_json else f"{out}: {count:,} rows")


def _write_parquet(out: Path, batches: Any) -> int:
    import pyarrow.parquet as pq

    from deskcheck.files import disk_errors

    count = 0
    part = out.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with disk_errors(out, "write this file"):
            with pq.ParquetWriter(str(part), batches.schema, compression="zstd") as writer:
                for batch in batches:
                    writer.write_batch(batch)
                    count += batch.num_rows
            os.replace(part, out)
    finally:
        part.unlink(missing_ok=True)
    return count


def _write_text(out: Path, batches: Any) -> int:
    from deskcheck.files import write_file

    count = 0

    def pieces() -> Iterator[str]:
        nonlocal count
        text = io.StringIO()
        table = csv.writer(text)
        if out.suffix == ".csv":
            table.writerow(batches.schema.names)
        for batch in batches:
            rows = batch.to_pylist()
            count += len(rows)
            if out.suffix == ".csv":
                table.writerows(row.values() for row in rows)
            else:
                text.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            yield text.getvalue()
            text.seek(0)
            text.truncate()
        yield text.getvalue()

    write_file(out, pieces())
    return count


_WRITERS = {".parquet": _write_parquet, ".csv": _write_text, ".jsonl": _write_text}
"""Suffix of a file -> the function that writes a table to it and returns the number of rows."""

export = typer.Typer(
    no_args_is_help=True, help="Write recordings and lessons in the layouts of other programs."
)


@export.callback()
def _group() -> None:
    pass


@export.command("hf")
def export_hf(
    folder: Annotated[Path, typer.Argument(help="A folder of recordings or of lessons.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the data set; it must not exist.")],
    name: Annotated[
        str | None, typer.Option(help="Its name on the card; by default the folder's name.")
    ] = None,
    validation: Annotated[
        float, typer.Option(min=0, max=1, help="Recordings: share of programs for validation.")
    ] = 0.05,
    test: Annotated[
        float, typer.Option(min=0, max=1, help="Recordings: share of programs for the test split.")
    ] = 0.05,
    any_licence: Annotated[
        bool,
        typer.Option("--any-licence", help="Also export data that is not cleared for training (train_ok)."),
    ] = False,
    events: Annotated[bool, typer.Option(help="Recordings: also write their events.")] = True,
    as_json: Json = False,
) -> None:
    """Write a folder that Hugging Face's `datasets` loads by its name: a card and Parquet files by split."""
    from deskcheck.jobs.job_folder import JobFolder
    from deskcheck.jobs.status import status
    from deskcheck.teach.lessons.dataset import export_dataset

    if JobFolder(folder).job.exists() and not (job := status(folder)).whole:
        say(f"note: {folder} is an unfinished job: it has {job.totals.programs} programs so far")
    exported = export_dataset(
        folder, out, name=name, validation=validation, test=test, any_licence=any_licence, events=events
    )
    if as_json:
        print(json.dumps(exported.to_dict()))
        return
    for table, counts in exported.rows.items():
        rows = ", ".join(f"{count:,} {split}" for split, count in counts.items())
        print(f"{out}/{table}: {rows or 'none'}")
    for what, count in exported.left_out.items():
        print(f"left out, not cleared for training: {count:,} {what}")


Recorded = Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder of recordings.")]
RecordingId = Annotated[
    str | None,
    typer.Argument(metavar="[ID]", help="The recording; without it, the folder must have one."),
]
ProfileOut = Annotated[Path, typer.Option("--out", help="The file, with the suffix .json.")]


@export.command("speedscope")
def export_speedscope(folder: Recorded, recording_id: RecordingId = None, *, out: ProfileOut) -> None:
    """Write the calls of a recording as a flame chart for https://www.speedscope.app."""
    from deskcheck.view.flame import speedscope

    _write_profile(folder, recording_id, out, speedscope)


@export.command("perfetto")
def export_perfetto(folder: Recorded, recording_id: RecordingId = None, *, out: ProfileOut) -> None:
    """Write the calls of a recording as a timeline for https://ui.perfetto.dev or chrome://tracing."""
    from deskcheck.view.flame import perfetto

    _write_profile(folder, recording_id, out, perfetto)


def _write_profile(
    folder: Path, recording_id: str | None, out: Path, profile: Callable[[Any], dict[str, Any]]
) -> None:
    from deskcheck.cli.querying import opened
    from deskcheck.files import write_file

    _, recording = opened(folder, recording_id, "")
    size = write_file(out, [json.dumps(profile(recording))])
    print(f"{out}: {size / 1e6:.1f} MB, {recording.events:,} events")
