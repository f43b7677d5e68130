"""Notations explained to a reader who has never seen them, with an example: what stands before a prompt about
a program for models that were not taught on lessons.

`EXPLAINED` has the notations that a whole run can be read back from, and for `dynamic` the single step. The
words are those of docs/reference/notation.md, shorter.
"""

from deskcheck.notation.layout import numbered_text

EXPLAINED_PROGRAM = """\
def add(rows, n):
    rows.append(n)
    return len(rows)


def f(n):
    rows = last = []
    for i in range(n):
        k = add(rows, i)
    return last
"""
_NUMBERED = numbered_text(EXPLAINED_PROGRAM)

EXPLAINED_VALUES = """\
- Values are written as Python's repr writes them. `def f`, `class C`: a variable of that name that holds it.
- `a=#1=[0], b=#1`: a and b are the same object. Objects that only one variable holds have no number.
- After `|`: the iterators of running loops, as `<range_iterator left=range(1, 3)>` or
  `<list_iterator over=#1, next=2>`. Then, from left to right, what an unfinished expression has worked out
  so far, functions that it is about to call too, as `<function add>`; without what a call takes that the
  frame waits for.
- `-> v`: what is returned or yielded. `! v`: the exception that is raised. `prints 'a\\n'` at the end of an
  event: what was printed since the event before.
"""
_EVENTS = """\
- A line about to run is its number: `7`. `call add 1 from 9:12-24`: a frame begins, at line 1; the call is
  in line 9, columns 12 to 24 (from 0). `return 3 -> 5`, `yield 3 -> 5`, `resume 3 <- None`,
  `raise 4 ! KeyError('k')`; `unwind 4`: the frame is left by the exception.
- `globals: total=3` before an event: variables of the module that are new or changed. `in 0: a=1`: the same
  of the frame so many calls below the outermost.
"""
_WHOLE = """\
Write down the run of a Python program.
You see the program, its lines numbered, and what is called. Write its trace from the first event to the end
of the outermost frame, one event a line, between two lines of ```, and nothing else. How it is written:
- After the colon: {variables} A variable that is gone: `del x`.
"""
_FULL = "all variables of the frame that runs. Of other frames, what changed, on lines before the event's."
_CHANGED = (
    "the variables that changed since the frame's last event; an object that changed inside as `#1=[0, 1]`."
)
_STEP = """\
Be Python's interpreter, one event at a time.
You see a program, its lines numbered, one state of its run, the line that goes on, and +1. Give the state one
event later, whole, between two lines of ```, and nothing else. How a state is written:
"""
STATES = """\
- Its last line is the event. `f 7: n=2, k=0`: line 7 of f is about to run; after the colon, all variables of
  the frame. `call add 1 from 9:12-24: n=0`: a frame begins, at line 1; the call stands in line 9, columns 12
  to 24 (from 0). `return add 3 from 9:12-24: n=0 -> 5`, `yield`, `resume ... <- None`,
  `raise f 4: n=2 ! KeyError('k')`; `unwind f 4: n=2`: the frame is left by the exception.
- Before it, outermost first, the frames that wait for a call: `frame f 9: n=2`. Before those, `globals:
  def f` if the module has variables.
"""

_COMPACT_EXAMPLE = """\
globals: def add, def f
call f 6: n=1
7
8: last=#1=[], rows=#1
9: i=0 | <range_iterator left=range(1, 1)>
call add 1 from 9:12-24: rows=#1, n=0
2
3: #1=[0]
return 3 -> 1
8: k=1
10 |
return 10 -> #1"""
EXPLAINED_RUN = """\
globals: def add, def f
call f 6: n=1
7: n=1
8: n=1, last=#1=[], rows=#1
9: n=1, last=#1=[], rows=#1, i=0 | <range_iterator left=range(1, 1)>
call add 1 from 9:12-24: rows=#1=[], n=0
2: rows=#1=[], n=0
3: rows=#1=[0], n=0
return 3: rows=#1=[0], n=0 -> 1
8: n=1, last=#1=[0], rows=#1, i=0, k=1 | <range_iterator left=range(1, 1)>
10: n=1, last=#1=[0], rows=#1, i=0, k=1
return 10: n=1, last=#1=[0], rows=#1, i=0, k=1 -> #1"""
_STEPS_EXAMPLE = [
    (
        """\
globals: def add, def f
f 9: n=1, last=#1=[], rows=#1, i=0 | <range_iterator left=range(1, 1)>
9|        k = add(rows, i)
""",
        """\
globals: def add, def f
frame f 9: n=1, last=#1=[], rows=#1, i=0 | <range_iterator left=range(1, 1)>
call add 1 from 9:12-24: rows=#1, n=0""",
    ),
    (
        """\
globals: def add, def f
frame f 9: n=1, last=#1=[], rows=#1, i=0 | <range_iterator left=range(1, 1)>
add 2 from 9:12-24: rows=#1, n=0
2|    rows.append(n)
""",
        """\
globals: def add, def f
frame f 9: n=1, last=#1=[0], rows=#1, i=0 | <range_iterator left=range(1, 1)>
add 3 from 9:12-24: rows=#1, n=0""",
    ),
    (
        """\
globals: def add, def f
frame f 9: n=1, last=#1=[0], rows=#1, i=0 | <range_iterator left=range(1, 1)>
return add 3 from 9:12-24: rows=#1, n=0 -> 1
9|        k = add(rows, i)
""",
        """\
globals: def add, def f
f 8: n=1, last=#1=[0], rows=#1, i=0, k=1 | <range_iterator left=range(1, 1)>""",
    ),
]


def _whole(name: str, variables: str, example: str) -> str:
    words = _WHOLE.format(variables=variables) + _EVENTS + EXPLAINED_VALUES
    return f"{words}\nAn example.\n\n{_NUMBERED}f(1)\n{name}\n```\n{example}\n```\n\nNow yours.\n\n"


def _steps() -> str:
    shown = [f"{before}+1\n```\n{after}\n```\n\n" for before, after in _STEPS_EXAMPLE]
    return f"{_STEP}{STATES}{EXPLAINED_VALUES}\nThree examples.\n\n{_NUMBERED}{''.join(shown)}Now yours.\n\n"


EXPLAINED = {
    "scratchpad": _whole("scratchpad", _FULL, EXPLAINED_RUN),
    "compact": _whole("compact", _CHANGED, _COMPACT_EXAMPLE),
    "dynamic": _steps(),
}
"""Name of a notation -> what explains it, ended by an empty line."""
