"""Commands that answer questions about recordings: `why`, `find`, `diff`."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from deskcheck.cli.common.options import Panel, with_options
from deskcheck.cli.common.output import Json, print_lines, says_when_interrupted
from deskcheck.errors import InputError
from deskcheck.settings import Setting

Folder = Annotated[
    Path,
    typer.Argument(metavar="FOLDER", help="A folder of recordings."),
]
_INTERRUPTED = "interrupted: no answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Which:
    """The recording that a question is about."""

    recording: Annotated[
        str | None,
        Setting(
            "Its id, or a part that no other id contains. Without it, the folder must have one.", metavar="ID"
        ),
    ] = None
    thread: Annotated[int, Setting("The thread; 0 is the main one.", min=0)] = 0


def opened(folder: Path, which: str | None, option: str = "--recording") -> tuple[Any, Any]:
    """The folder's recordings, and the one that is asked about. Raises InputError if that is not clear."""
    from deskcheck.recording.reader import Recordings

    recordings = Recordings(folder)
    if which is not None:
        return recordings, recordings.named(which)
    ids = recordings.ids
    if len(ids) != 1:
        listed = "".join(f"\n    {id_}" for id_ in ids[:20]) + ("\n    ..." if len(ids) > 20 else "")
        choice = f"{option} ID".strip()
        raise InputError(f"{folder}: has {len(ids)} recordings. Choose one with {choice}:{listed}")
    return recordings, recordings[ids[0]]


@with_options
def why(
    folder: Folder,
    expression: Annotated[
        str | None,
        typer.Argument(
            metavar="[EXPR]",
            help="A name, attribute or item: total, cart.items[0].price. Without it, the last exception; or "
            "with --at, what that event returned or raised.",
        ),
    ] = None,
    *,
    which: Annotated[_Which, Panel(None)],
    at: Annotated[
        int | None,
        typer.Option(
            "--at", metavar="EVENT", help="Number of the event. By default the last one that has the value."
        ),
    ] = None,
    steps: Annotated[int, typer.Option("--steps", min=1, max=1000, help="Length of the chain.")] = 10,
    conditions: Annotated[
        bool,
        typer.Option(
            "--conditions",
            help="Also follow the conditions under which lines ran, and earlier changes of the same objects.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Say which event last changed a value, and where the values came from that its line read.

    The chain goes through calls, arguments, results, attributes and items. Where C code ran, or code that is
    not recorded, it says so.

    Exit status: 0 answered, 2 the expression has no value there."""
    from deskcheck.view.queries.why import why as answer_why

    with says_when_interrupted(_INTERRUPTED):
        _, recording = opened(folder, which.recording)
        answer = answer_why(
            recording, expression, at=at, steps=steps, thread=which.thread, conditions=conditions
        )
    if as_json:
        print(json.dumps(answer.to_dict()))
    else:
        print_lines(answer.lines())


@with_options
def find(
    folder: Folder,
    expression: Annotated[
        str | None,
        typer.Argument(metavar="[EXPR]", help="Events where this is true: 'x is None and len(items) > 3'."),
    ] = None,
    *,
    which: Annotated[_Which, Panel(None)],
    changes: Annotated[
        str | None,
        typer.Option("--changes", metavar="NAME", help="Events that change this value."),
    ] = None,
    calls: Annotated[
        str | None,
        typer.Option("--calls", metavar="CALL", help="Calls of a function: f, 'f(3)', 'Cart.add(..., n=2)'."),
    ] = None,
    exceptions: Annotated[
        bool, typer.Option("--exceptions", help="Events that raised an exception.")
    ] = False,
    output: Annotated[
        str | None, typer.Option("--output", metavar="TEXT", help="Events that had written this text.")
    ] = None,
    max_matches: Annotated[int, typer.Option("--max-matches", min=1, help="Number of places to list.")] = 20,
    as_json: Json = False,
) -> None:
    """Find the events of a recording at which something holds or happens.

    Only recorded values are read: no code of the program runs.

    Exit status: 0 found, 1 no event, 2 wrong usage."""
    from deskcheck.view.queries import find as queries

    asked = [expression, changes, calls, exceptions or None, output]
    if sum(question is not None for question in asked) != 1:
        raise InputError("give one of EXPR, --changes, --calls, --exceptions and --output.")
    with says_when_interrupted(_INTERRUPTED):
        recordings, recording = opened(folder, which.recording)
        events = queries.Events(recording, recordings, which.thread)
        if expression is not None:
            findings = queries.find(events, expression, max_matches=max_matches)
        elif changes is not None:
            findings = queries.find_changes(events, changes, max_matches=max_matches)
        elif calls is not None:
            findings = queries.find_calls(events, calls, max_matches=max_matches)
        elif output is not None:
            findings = queries.find_output(events, output, max_matches=max_matches)
        else:
            findings = queries.find_exceptions(events, max_matches=max_matches)
    if as_json:
        print(json.dumps(findings.to_dict()))
    else:
        print_lines(findings.lines())
    if not findings.events:
        raise typer.Exit(1)


@with_options
def diff(
    first: Annotated[Path, typer.Argument(metavar="A", help="A folder of recordings.")],
    second: Annotated[
        Path, typer.Argument(metavar="B", help="Another folder, or the same one with --recording-b.")
    ],
    *,
    which: Annotated[_Which, Panel(None)],
    recording_b: Annotated[
        str | None,
        typer.Option("--recording-b", metavar="ID", help="The recording in B; by default that with A's id."),
    ] = None,
    max_partings: Annotated[int, typer.Option("--max-partings", min=1, help="Places to show.")] = 10,
    as_json: Json = False,
) -> None:
    """Show where two runs of a program part, and the values that differ there.

    The runs may have other input, or be of another version of the program. Events that only one of them has
    are skipped.

    Exit status: 0 no difference, 1 the runs differ, 2 wrong usage."""
    from deskcheck.recording.reader import Recordings
    from deskcheck.view.queries.diff import diff as compare

    with says_when_interrupted(_INTERRUPTED):
        _, a = opened(first, which.recording)
        if recording_b is None and second.resolve() != first.resolve() and a.id in Recordings(second):
            recording_b = a.id
        _, b = opened(second, recording_b, "--recording-b")
        answer = compare(a, b, max_partings=max_partings, thread=which.thread)
    if as_json:
        print(json.dumps(answer.to_dict()))
    else:
        print_lines(answer.lines())
    if answer.partings or answer.endings[0] != answer.endings[1]:
        raise typer.Exit(1)
