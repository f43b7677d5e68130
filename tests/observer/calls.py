"""Do two tracers agree on real code? Sampled calls of libraries, while the libraries' own tests run.

    python -m tests.observer.calls [NAME...]      by modules of CPython's own test suite

        --python EXE    the interpreter (this one); it needs the `test` package
        --most N        different calls of one function (100)
        --budget N      calls of one library, at most (20,000)
        --events N      calls with more events are left out (2,000)
        --seed N        of the sample (0)
        --timeout S     for one process (600)
        --json FILE     append a row for every library; one that has a row there is not run again

The tests run twice, with PYTHONHASHSEED=0 and the same addresses, once with each tracer, and the same calls are drawn: the nth of a
function in a test. Every event of a call that both have recorded is compared, with the state. Where they
differ, the tests run under the reference tracer up to three times more, with other allocators: what differs
then is unsteady (an address, the time) and is only counted. The exit status is 1 if any other call differs, and
where nothing could be compared: no calls, or one of the two runs did not come to its end and the other did.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deskcheck.recording import Row, block
from deskcheck.recording.comparison.tracers import Different, check
from tests.observer.suites import HERE, STDLIB, environment, run_steadily
from tests.tracer.agree import _neutral

LIBRARIES = {name: modules.split() for name, modules in STDLIB.items() if modules} | {
    name: [name]
    for name in """
        argparse ast base64 bisect calendar cmd codeop colorsys configparser contextlib csv difflib dis
        fileinput fnmatch ftplib genericpath getopt gettext glob gzip hashlib hmac html imaplib ipaddress
        keyword linecache locale mailbox mimetypes netrc ntpath numbers opcode optparse pickle pickletools
        pkgutil plistlib posixpath pstats pyclbr quopri sched secrets selectors shelve shutil stat
        stringprep string struct symtable tabnanny tarfile tempfile threading timeit tokenize trace
        urllib uuid wave webbrowser wsgiref zipapp zipfile zipimport
    """.split()
}
LIBRARIES |= {"urlparse": ["urllib"], "http_cookies": ["http"], "httplib": ["http"], "htmlparser": ["html"]}
LIBRARIES |= {"xml_etree": ["xml"], "minidom": ["xml"], "email.test_email": ["email"], "logging": ["logging"]}
LIBRARIES |= {"json.test_dump": ["json"], "json.test_decode": ["json"], "json.test_indent": ["json"]}

ALLOCATORS = "malloc", "pymalloc_debug", "pymalloc"
"""Of the further runs (PYTHONMALLOC): a set of classes is in the order of their addresses."""
UNSTEADY = re.compile(r"Abstract\w+\.__subclasshook__$")
"""Functions whose nth call in a test is not always the same one: `abc` asks subclasses in the order of a set."""

Calls = dict[tuple[str, str, str, int], list[Row]]


def read(path: Path) -> tuple[Calls, bool]:
    """The calls of a run, and whether it came to its end."""
    found: Calls = {}
    stream, at = path.read_bytes() if path.exists() else b"", 0
    while at + 4 <= len(stream):
        size = int.from_bytes(stream[at : at + 4], "little")
        head = json.loads(stream[at + 4 : at + 4 + size])
        at += 4 + size
        if "end" in head:
            return found, True
        rows: list[Row] = []
        for length in head["sizes"]:
            rows += block.rows(stream[at : at + length])
            at += length
        test, module, function, number = head["key"]
        found[test, module, function, number] = rows
    return found, False


def run(
    request: dict[str, Any], tracer: str, args: argparse.Namespace, allocator: str = "pymalloc"
) -> tuple[Calls, bool, float]:
    """The calls that were recorded under a tracer, whether the tests came to their end, and seconds."""
    with tempfile.TemporaryDirectory() as folder:
        asked, told, work = Path(folder, "request"), Path(folder, "result"), Path(folder, "work")
        settings = {name: getattr(args, name) for name in ("most", "budget", "events", "seed")}
        asked.write_text(json.dumps(request | settings | {"tracer": tracer}))
        work.mkdir()
        command = [str(HERE / "_sampled.py"), str(asked), str(told)]
        begun = time.monotonic()
        run_steadily([args.python, *command], args.timeout, cwd=work, env=environment(allocator))
        calls, ended = read(told)
        return calls, ended, time.monotonic() - begun


def difference(one: list[Row], two: list[Row]) -> str | None:
    """Where two recordings of a call differ; addresses and numbers of objects do not count."""
    if one == two:
        return None
    if len(one) != len(two):
        return f"{len(one)} events and {len(two)}"
    steady = [
        Row._make(_neutral(value) if isinstance(value, str) else value for value in row)
        for row in (*one, *two)
    ]
    first, second = steady[: len(one)], steady[len(one) :]
    if first == second:
        return None
    try:
        for thread in {row.thread for row in first}:
            check(
                [row for row in first if row.thread == thread],
                [row for row in second if row.thread == thread],
            )
    except Different as found:
        return str(found)
    return None


def compare(name: str, request: dict[str, Any], args: argparse.Namespace) -> dict[str, Any]:
    """A row about one library."""
    reference, ended, slow_s = run(request, "reference", args)
    native, native_ended, fast_s = run(request, "native", args)
    both = reference.keys() & native.keys()
    found = {key: text for key in sorted(both) if (text := difference(reference[key], native[key]))}
    unsteady = {key for key in found if UNSTEADY.search(key[2])}
    for allocator in ALLOCATORS:
        if unsteady == found.keys():
            break
        again, _, _ = run(request, "reference", args, allocator)
        unsteady |= {k for k in found.keys() & again.keys() if difference(reference[k], again[k]) is not None}
    return {
        "name": name,
        "python": args.version,
        "calls": len(both),
        "events": sum(len(reference[key]) for key in both),
        "functions": len({key[1:3] for key in both}),
        "in one only": len(reference.keys() ^ native.keys()),
        "ended": [ended, native_ended],
        "nothing": not both or ended != native_ended,
        "seconds": [round(slow_s, 1), round(fast_s, 1)],
        "unsteady": len(unsteady),
        "different": {" ".join(map(str, key)): text for key, text in found.items() if key not in unsteady},
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--most", type=int, default=100)
    parser.add_argument("--budget", type=int, default=20_000)
    parser.add_argument("--events", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args(arguments)
    asked = [args.python, "-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])"]
    args.version = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    known = []
    if args.json and args.json.exists():
        known = [json.loads(line) for line in args.json.read_text().splitlines()]
        known = [row for row in known if row["python"] == args.version]
    rows = {row["name"]: row for row in known}
    for name in args.names or LIBRARIES:
        if name in rows:
            continue
        head, _, tail = name.partition(".")
        request: dict[str, Any] = {
            "module": f"test.test_{head}" + (f".{tail}" if tail else ""),
            "packages": [module.partition(".")[0] for module in LIBRARIES.get(name, [name])],
            "root": "/nowhere",
        }
        row = rows[name] = compare(name, request, args)
        if args.json:
            with args.json.open("a") as out:
                out.write(json.dumps(row) + "\n")
        print(
            f"{'DIFF' if row['different'] else 'NONE' if row['nothing'] else 'ok  '} {name:24} {row['calls']:6,} calls of {row['functions']:4,} functions, "
            f"{row['events']:9,} events, {len(row['different'])} different, {row['unsteady']} unsteady, "
            f"{row['in one only']} in one only; {row['seconds'][0]:.0f} s, {row['seconds'][1]:.0f} s"
            + ("" if all(row["ended"]) else "; did not come to its end"),
            flush=True,
        )
        for key, text in list(row["different"].items())[:5]:
            print(f"     {key}: {text[:500]}")
    total = sum(row["calls"] for row in rows.values())
    different = sum(len(row["different"]) for row in rows.values())
    print(f"{total:,} calls on {args.version}, {different} different")
    nothing = [name for name, row in rows.items() if row["nothing"]]
    if nothing:
        print(f"no calls, or one of the two runs came to its end alone: {', '.join(nothing)}")
    return 1 if different or nothing else 0


if __name__ == "__main__":
    sys.exit(main())
