"""Programs that write rows in the recorder's name, as large as the channel takes, and what records them.

    python -m tests.recorder.forging FOLDER NAME [repeat]

prints how many KiB the recording process filled beyond what it had before, and how the program ended.
"""

import sys
from pathlib import Path

from deskcheck.recorder.programs import ProgramRecorder
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording import Program
from deskcheck.recording.writer import Writer
from deskcheck.sandbox import Confinement, Limits
from tests.peer.channel import FIND

BEGIN = (
    FIND
    + r"""
import os
COLUMNS = ("locals", "stack", "globals", "objects", "caller", "value", "output", "instruction")
MAGIC = b"\xdcK\x01"
MB = 1 << 20
ROOM = 4 * MB - 2000
LIST = b'":{"kind":"list","type":"list"}'
index = {}
def number(value):
    found = b""
    while value >= 0x80:
        found += bytes([value & 0x7F | 0x80])
        value >>= 7
    return found + bytes([value])
def text(data):
    return number(len(data)) + data
def row(*, function=b"f", file=b"program.py", thread=0, code=0, gap=None, **columns):
    # With its context, the next of its thread. code: a number that this block has not used.
    head = 0x11 | (0x20 if columns else 0) | (0 if gap is None else 0x40)
    at = index[thread] = index.get(thread, -1) + 1
    made = bytes([head]) + number(thread) + number(at) + number(0) + number(code) + text(function) + text(file)
    made += number(1) + number(1)
    if columns:
        made += bytes([sum(1 << COLUMNS.index(name) for name in columns)])
        made += b"".join(text(columns[name]) for name in COLUMNS if name in columns)
    return made + (b"" if gap is None else text(gap))
def small(count, columns=b""):
    # Events that go on from the one before.
    index[0] += count
    return ((b"\x21\x01\x01\x08" + text(columns)) if columns else b"\x01\x01\x01") * count
def objects(numbers, each=LIST):
    return b"{" + b",".join(b'"%d%s' % (n, each) for n in numbers) + b"}"
def json_row(value):
    index[0] = index.get(0, -1) + 1
    head = b'[0,%d,"line",0,"f","program.py",1,1,null,null,null,null,null,' % index[0]
    return head + value + b",null,null,null]"
"""
)
FORGERS = {
    "a huge text": "send(MAGIC + row(value=b'\"' + b\"x\" * (2 * MB) + b'\"'))",
    "texts as huge as they may be": """
for n in range(12):
    send(MAGIC + row(value=b'"' + b"x" * ROOM + b'"'))
""",
    "escapes": """
for n in range(6):
    send(MAGIC + row(value=b'"' + b"\\\\u0001" * (ROOM // 6) + b'"'))
""",
    "wide escapes": """
for n in range(6):
    send(MAGIC + row(locals=b'{"x":"' + b"\\\\ud83d\\\\ude00" * (ROOM // 12) + b'"}'))
""",
    "output": """
for n in range(8):
    send(MAGIC + row(output=b"x" * ROOM))
""",
    "instruction": """
for n in range(8):
    send(MAGIC + row(instruction="\\u00e9".encode() * (ROOM // 2)))
""",
    "as deep as it may be": """
deep = b'{"tuple":[' * 120 + b"1" + b"]}" * 120
for n in range(8):
    send(MAGIC + row(stack=b"[" + b",".join([deep] * (ROOM // (len(deep) + 1))) + b"]"))
""",
    "deeper": """
send(MAGIC + row(stack=b'{"tuple":[' * 50000 + b"1" + b"]}" * 50000))
""",
    "objects": "send(MAGIC + row(objects=objects(range(100000))))",
    "as many objects as there may be": """
for at in range(0, 1000000, 100000):
    send(MAGIC + row(objects=objects(range(at, at + 100000))))
""",
    "objects with wide numbers": """
for at in range(0, 500000, 80000):
    send(MAGIC + row(objects=objects(range(10 ** 15 + at, 10 ** 15 + at + 80000))))
""",
    "objects of many threads": """
for thread in range(9999):
    send(MAGIC + row(thread=thread, objects=objects(range(40))))
""",
    "objects that come and go": """
come, go = objects(range(90000)), objects(range(90000), b'":null')
for n in range(6):
    send(MAGIC + row(objects=come))
    send(MAGIC + row(objects=go))
""",
    "references": """
send(MAGIC + row(objects=objects([1])))
for n in range(6):
    send(MAGIC + row(stack=b"[" + b",".join([b'{"ref":1}'] * (ROOM // 10)) + b"]"))
""",
    "changes": """
send(MAGIC + row(objects=objects([1])))
for n in range(8):
    send(MAGIC + row() + small(32767, b'{"1":{"splice":[0,0,[1]]}}'))
""",
    "changes of many": """
send(MAGIC + row(objects=objects(range(80000))))
for n in range(6):
    send(MAGIC + row(objects=objects(range(80000), b'":{"length":5,"splice":[0,0,[1,2,3]]}')))
""",
    "small rows": """
for n in range(30):
    send(MAGIC + row() + small(32767))
""",
    "more small rows than a block has": "send(MAGIC + row() + small(1200000))",
    "small rows with long names": "send(MAGIC + row(function=b'f' * 99000, file=b'p' * 99000) + small(32767))",
    "small rows with names that count": """
for n in range(6):
    send(MAGIC + row(function=b'f' * 150, file=b'p' * 149) + small(32767))
""",
    "few rows with long names": """
for n in range(8):
    send(MAGIC + row(function=b'f' * 99000, file=b'p' * 99000) + small(15000))
""",
    "many functions": """
for block in range(5):
    send(MAGIC + b"".join(row(function=b"%d" % n + b"f" * 90000, file=b"p", code=n) for n in range(40)))
""",
    "many threads": """
for thread in range(9999):
    send(MAGIC + row(thread=thread))
""",
    "as JSON": """
for n in range(8):
    send(json_row(b'"' + b"x" * ROOM + b'"'))
""",
    "as JSON, wide": """
for n in range(6):
    send(json_row(b'"\\\\"' + "\\U0001f600".encode() * (ROOM // 4 - 100) + b'\\\\""'))
""",
    "as JSON, of lists": "send(json_row(b'[' * 200 + b'[],' * MB + b']' * 200))",
    "as JSON, of numbers": "send(json_row(b'[' + b'1,' * (2 * MB - 1000) + b'1]'))",
    "left out": "send(MAGIC + row(gap=b'{' + b','.join(b'\"%d\":5' % n for n in range(300000)) + b'}'))",
    "names": """
for n in range(5):
    send(MAGIC + row(locals=b"{" + b",".join(b'"%d":5' % n for n in range(350000)) + b"}"))
""",
    "an end": """
send(b'end {"outcome":"returned","cpu_s":0,"sources":{' + b",".join(b'"%d":"x"' % n for n in range(24000))
     + b',"y":"' + b"z" * (3 * MB) + b'"}}')
""",
    "a value that is no end": """
send(b'end {"outcome":"returned","cpu_s":0,"imported":["' + b'","'.join(b"m%d" % n for n in range(90000)) + b'"]}')
""",
}
END = "\nos._exit(0)\n"
"""Nothing of what the tracer keeps follows."""


def forger(name: str) -> Program:
    """The program: the tracer is told that what it does lies in a file that is not recorded."""
    text = BEGIN + FORGERS[name] + END
    return Program(id=name, code=f"exec(compile({text!r}, 'elsewhere.py', 'exec'))")


def filled(name: str) -> int:
    """KiB of this process."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name))


def main() -> None:
    folder, name = sys.argv[1:3]
    settings = RecordSettings(
        repeat=sys.argv[3:] == ["repeat"],
        sandbox=Confinement.STANDARD,
        limits=Limits(cpu_s=20, wall_s=60),
    )
    with ProgramRecorder(settings) as recorder:
        with Writer(Path(folder)) as writer:  # what a row group takes, whoever fills it
            recorder.record(Program(id="good", code="for i in range(100_000):\n    x = [i]\n"), writer)
        before = filled("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")
        with Writer(Path(folder)) as writer:
            recorded = recorder.record(forger(name), writer)
            recorder.record(Program(id="better", code="y = 2\n"), writer)
        print(
            filled("VmHWM") - before,
            recorded.run_result.outcome,
            recorded.run_result.cut,
            recorded.run_result.detail,
        )


if __name__ == "__main__":
    main()
