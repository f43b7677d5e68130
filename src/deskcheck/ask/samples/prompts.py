"""The words of a question. Every prompt asks for the answer between [ANSWER] and [/ANSWER] and has one
worked example, after the direct prompts of CRUXEval (Gu et al. 2024, arXiv:2401.03065, appendix C),
in words of our own. Where line numbers are asked for, the source is shown with them: equal lines
are ambiguous by their text.
"""

from collections.abc import Sequence

from deskcheck.ask.samples.source import ShownSource
from deskcheck.fences import fenced, fenced_code
from deskcheck.notation.calls import called
from deskcheck.notation.forms.explained import EXPLAINED
from deskcheck.recording import Mode, Program
from deskcheck.sources.sets.coding import CodingTask

EXAMPLE, YOURS = "An example.", "Now yours."
STATE = "Variables of the kernel at this moment"
"""How the part with the variables begins, in every view."""
BEFORE = "Executed before, oldest first:"
NOW = "Executed now,"

_TAGS = "Write the answer between [ANSWER] and [/ANSWER]. Only what is between them counts."
_ONCE = (
    "How lines are counted: a statement that spans several lines is its first line. "
    "The header of a loop runs before every pass and once more when the loop ends."
)
_EVERY = "Times are counted over the whole run, in whichever call of the function."
_MOMENT = (
    "The moment is just before a line runs for the k-th time; every run of the line counts, in whichever "
    "call "
    f"of its function. {_ONCE}"
)

_WRITTEN = (
    "Data are written as Python's repr writes them, worked out. An object is written Class(attribute=value, "
    "...) with all that its __dict__ and __slots__ hold, in any order; if its class extends a list, "
    "tuple, dictionary or another builtin, what that holds comes first: Class([1, 2], attribute=value). An "
    "object that the question shows with a number keeps it, and is written whole where it comes first, as "
    "Class#1(...), changed or not; where it comes again <Class #1 again> is enough. Of "
    "any other object that stands there twice, the first has a number that is not used yet, as "
    "Class#5(...), and where it comes again <Class #5 again> is enough. Functions are written "
    "<function NAME>, with the qualified name, classes <class 'NAME'>, bound methods <method NAME of OBJECT>."
)

_OUTSIDE, _INSIDE = "the tests run outside of it", "the tests run in that process, too"
TASKS = {
    "output": (
        "What does this call return?\n"
        "You see a Python program and a call of one of its functions. Give the value that the call returns, "
        f"written as Python's repr writes it, worked out: a literal, no expression. {_TAGS}"
    ),
    "returned": (
        "Which object does this call return?\n"
        "You see a Python program and a call of one of its functions. Give the value that the call returns, "
        f"as it is when the call returns. {_WRITTEN} {_TAGS}"
    ),
    "made": (
        "What does this object hold?\n"
        "You see a Python program and a call of the __init__ of an object that has nothing in it yet, or "
        f"little. Give the object as it is when the call returns. {_WRITTEN} {_TAGS}"
    ),
    "stdout": (
        "What does this program print?\n"
        f"You see a Python program. Give all that it writes to standard output when it is run. {_TAGS}"
    ),
    "input": (
        "Which arguments make the function return this value?\n"
        "You see a Python program and a value that a call of one of its functions returned. Give a call of "
        "that function that returns the value; where several do, any of them is right. Write the arguments "
        f"out as literals. {_TAGS}"
    ),
    "next_line": (
        "Which line runs next?\n"
        "You see a Python program with line numbers, and one moment of its run: a line that is about to run "
        "and the values that its function (its frame) has then. Give the number of the line that runs next "
        "in the same frame; lines of functions that are called in between do not count. If the frame is left "
        "before another of its lines runs, answer return, or raise if an exception leaves it. "
        f"{_ONCE} {_TAGS}"
    ),
    "state": (
        "What is the value of this variable?\n"
        "You see a Python program with line numbers and how it is run. Give the value that a variable has "
        "at one moment of the run, written as Python's repr writes it. The moment is just before a line runs "
        "for the k-th time; every run of the line counts, in whichever call of its function. "
        f"{_ONCE} {_TAGS}"
    ),
    "history": (
        "Which values does this variable hold?\n"
        "You see a Python program with line numbers and how it is run. A variable of one call of a function "
        "is looked at just before each line of the function runs in that call, and when the call ends. Give "
        "the values that it has, in order, as a list, written as Python's repr writes them; equal values in "
        "a row count once. Before it has a value there is nothing to give; a parameter begins with the "
        "value that is passed. "
        "Calls of the function are counted from 1, over the whole run, in the order in which they begin. "
        f"{_ONCE} {_TAGS}"
    ),
    "path": (
        "Which lines run, in order?\n"
        "You see a Python program with line numbers and how it is run. Give the numbers of the lines that "
        "run, in order, those of called functions in their place, as a list. "
        f"{_ONCE} Write a line where its call comes to it from another line: not again where a function that "
        "it called returns to it, nor for each item of a comprehension. A line that stands there several "
        "times on end is written once. The code of a comprehension, a generator expression or a lambda is "
        "part of the statement that it stands in, and no line where it runs later; functions that it calls "
        "count. Lines that hold only else, finally, a comment, a docstring or another constant, global, "
        "nonlocal, or an annotation without a value do not count; def and class lines count when "
        f"the definition is executed, not when the function is called. {_TAGS}"
    ),
    "exception": (
        "Which exception leaves this program, and where is it raised?\n"
        "You see a Python program with line numbers and how it is run. The run ends with an exception. Give "
        "the line that raises it, its class and its message, as LINE: CLASS: MESSAGE. Class and message "
        "are those with which Python's traceback ends, without the module; of a message of several lines, "
        "give the first. Of an exception that comes out of a library, give the line that calls the library. "
        "Of one that is caught and raised "
        "again, give the line that raised it first. "
        f"A statement that spans several lines is its first line. {_TAGS}"
    ),
    "step": EXPLAINED["dynamic"].removesuffix("\n\n"),
    "branch": (
        "Which way does this condition go?\n"
        "You see a Python program with line numbers and how it is run. A condition of an if, elif or "
        "while is tested, perhaps many times. Give True if the body of the statement runs after this "
        f"test, False if it does not. {_EVERY} {_TAGS}"
    ),
    "iterations": (
        "How many times does the body of this loop run?\n"
        "You see a Python program with line numbers and how it is run. Give how many times the body of a "
        "loop begins, from the moment when the loop is entered until it is left, in whichever way, or the "
        "run is over. A loop that is entered again, in another call or in another pass of a loop around it,"
        f" begins anew. A loop whose body does not run is entered, too. {_EVERY} {_TAGS}"
    ),
    "after_loop": (
        "What is the value of this variable after the loop?\n"
        "You see a Python program with line numbers and how it is run. A loop is entered, and it ends: by"
        " its condition, its last item or a break. Give the value that a variable has then, before the "
        f"next line of the function runs, written as Python's repr writes it. {_EVERY} {_TAGS}"
    ),
    "visit": (
        "Which line runs after this one?\n"
        "You see a Python program with line numbers and how it is run. A line runs, perhaps many times. "
        "Give the number of the line that runs after it in the same call of its function; lines of "
        "functions that are called in between do not count. If the function is left before another of its"
        f" lines runs, answer return, or raise if an exception leaves it. {_EVERY} {_ONCE} {_TAGS}"
    ),
    "move": (
        "Where does the debugger go?\n"
        "You see a Python program with line numbers and how it is run. A debugger has stopped just before a "
        "line runs, and is given one command. After step it stops before the next line that runs, in "
        "whichever function: give its number. After until it stops before the next line of the same call of"
        " the function that stands further down than the current one: give its number, or return if the "
        "call returns before, or raise if an exception leaves it. After return it stops when the call "
        f"returns: give the value that is returned, as Python's repr writes it. {_EVERY} {_ONCE} {_TAGS}"
    ),
    "coverage": (
        "Does this line run?\n"
        "You see a Python program with line numbers and how it is run. Give True if the line runs at "
        f"least once, False if it never runs. {_TAGS}"
    ),
    "calls": (
        "Which functions call which, and how often?\n"
        "You see a Python program and how it is run. Count the calls of functions and methods that are "
        "defined in the program with def, from functions of the program or from its top level. The call "
        "that starts the run does not count. A call that a builtin or a library makes, as sorted does "
        "with its key, counts as one by the function that called the builtin. Code in a comprehension, a "
        "lambda or the body of a class belongs to the function around it; code at the top level is "
        "'<module>'. Methods are written Class.method, functions inside of functions outer.inner. Give a "
        f"dictionary from pairs (caller, callee) to the number of calls. {_TAGS}"
    ),
    "changes": (
        "What does this call change?\n"
        "You see a Python program and a call of one of its functions. When the call returns, some of what"
        " its arguments hold has another value than when it was made. Give a dictionary: each key names "
        "something that has changed, and its value is the new value. A key is 'name' for a parameter that"
        " is a list, a dictionary, a set or a bytearray, and 'name.attribute' for an attribute of a "
        "parameter that is an object, including self. Values are written as Python's repr writes them. "
        f"{_TAGS}"
    ),
    "alias": (
        "Which variables are the same object?\n"
        "You see a Python program with line numbers and how it is run. At one moment of the run, give the"
        " other variables of the same function that hold the same object as a given variable, as a set of"
        " names: those for which `is` gives True, not those that are only equal. Parameters count, and so"
        f" do variables of enclosing functions that the function uses. {_MOMENT} {_TAGS}"
    ),
    "type": (
        "Of which class is the value of this variable?\n"
        "You see a Python program with line numbers and how it is run. Give the name of the class of the "
        "value that a variable has at one moment of the run, as type(x).__name__ gives it: int, list, "
        f"NoneType. {_MOMENT} {_TAGS}"
    ),
    "program": (
        "Write a Python program that passes hidden tests.\n"
        "You see what it must do, and perhaps code to complete, to repair or to edit, and some of the tests. "
        "Give the whole program, with its imports and with all that it needs of the code that you see. "
        f"It runs in its own process, without a network; {_OUTSIDE}. "
        f"{_TAGS}"
    ),
    "cell_output": (
        "What does this cell show?\n"
        "You see cells of a Jupyter notebook in the order in which they were executed, with the text that "
        "they showed, and the cell that is executed now. Give the text that it shows: all that it writes to "
        "standard output, then the text of its result and of what it displays; of an exception that leaves "
        f"the cell, one line with its class and message. {_TAGS}"
    ),
    "crash": (
        "Does this cell raise an exception?\n"
        "You see cells of a Jupyter notebook in the order in which they were executed, with the text that "
        "they showed, and the cell that is executed now. Give the class of the exception that leaves the "
        f"cell, as its traceback names it, or None if the cell ends without one. {_TAGS}"
    ),
    "next_cell": (
        "Which cell is executed next?\n"
        "You see cells of a Jupyter notebook in the order in which they were executed, with the text that "
        "they showed. Give the source of the cell that is executed next: a new one, or one of these again, "
        f"as it was or changed. {_TAGS}"
    ),
}

_EXAMPLE_CODE = """\
def f(words, n):
    kept = []
    for word in words:
        if len(word) > n:
            kept.append(word.upper())
    return kept"""
_EXAMPLE_NUMBERED = "\n".join(f"{n} | {line}" for n, line in enumerate(_EXAMPLE_CODE.splitlines(), 1))
_EXAMPLE_CALL = "f(['red', 'of', 'blue'], 2)"

_EXAMPLES = {
    "output": f"Call: {_EXAMPLE_CALL}\n[ANSWER]['RED', 'BLUE'][/ANSWER]",
    "returned": (
        "Call: both(Point#1(x=2, y=5), 3)\n"
        "[ANSWER][Point#1(x=2, y=5), Point#2(x=5, y=5), <Point #2 again>][/ANSWER]"
    ),
    "made": "Call: Stack.__init__(Stack#1(), [5])\n[ANSWER]Stack#1(items=[5], size=1)[/ANSWER]",
    "input": f"Function: f\nReturned: ['RED', 'BLUE']\n[ANSWER]{_EXAMPLE_CALL}[/ANSWER]",
    "next_line": (
        f"How it is run: {_EXAMPLE_CALL}\nAbout to run: line 4 of f\n"
        "Values:\n    words = ['red', 'of', 'blue']\n    n = 2\n    kept = ['RED']\n    word = 'of'\n"
        "Live iterators, outermost first:\n    <list_iterator#3 over=['red', 'of', 'blue'], next=2>\n"
        "[ANSWER]3[/ANSWER]"
    ),
    "state": (
        f"How it is run: {_EXAMPLE_CALL}\n"
        "Variable: kept, just before line 4 runs for time number 2\n[ANSWER]['RED'][/ANSWER]"
    ),
    "history": (
        f"How it is run: {_EXAMPLE_CALL}\n"
        "Variable: kept, in call number 1 of f\n[ANSWER][[], ['RED'], ['RED', 'BLUE']][/ANSWER]"
    ),
    "path": f"How it is run: {_EXAMPLE_CALL}\n[ANSWER][2, 3, 4, 5, 3, 4, 3, 4, 5, 3, 6][/ANSWER]",
    "exception": (
        "How it is run: f(['red', 7], 2)\n[ANSWER]4: TypeError: object of type 'int' has no len()[/ANSWER]"
    ),
    "branch": (
        f"How it is run: {_EXAMPLE_CALL}\n"
        "Condition: that of the if in line 4 of f, tested for time number 2\n[ANSWER]False[/ANSWER]"
    ),
    "iterations": (
        f"How it is run: {_EXAMPLE_CALL}\n"
        "Loop: that in line 3 of f, when it is entered for time number 1\n[ANSWER]3[/ANSWER]"
    ),
    "after_loop": (
        f"How it is run: {_EXAMPLE_CALL}\n"
        "Loop: that in line 3 of f, when it is entered for time number 1\n"
        "Variable: kept, when the loop has ended\n[ANSWER]['RED', 'BLUE'][/ANSWER]"
    ),
    "visit": (
        f"How it is run: {_EXAMPLE_CALL}\n"
        "Line: line 4 of f, when it runs for time number 2\n[ANSWER]3[/ANSWER]"
    ),
    "move": (
        f"How it is run: {_EXAMPLE_CALL}\nStopped: just before line 5 of f runs for time number 2\n"
        "Values:\n    words = ['red', 'of', 'blue']\n    n = 2\n    kept = ['RED']\n    word = 'blue'\n"
        "Live iterators, outermost first:\n    <list_iterator#3 over=['red', 'of', 'blue'], next=3>\n"
        "Command: until: where does it stop?\n[ANSWER]6[/ANSWER]"
    ),
    "coverage": "How it is run: f([], 2)\nLine: 5\n[ANSWER]False[/ANSWER]",
    "alias": (
        f"How it is run: {_EXAMPLE_CALL}\n"
        "Variable: kept, just before line 4 runs for time number 2\n[ANSWER]set()[/ANSWER]"
    ),
    "type": (
        f"How it is run: {_EXAMPLE_CALL}\n"
        "Variable: word, just before line 4 runs for time number 2\n[ANSWER]str[/ANSWER]"
    ),
    "changes": (
        "How it is run: push(Stack#1(items=[5], size=1), 7)\n"
        "Changed: what the arguments hold when the call returns, as far as that is another value\n"
        "[ANSWER]{'stack.items': [5, 7], 'stack.size': 2}[/ANSWER]"
    ),
    "calls": (
        "How it is run: f(3)\nCount: every call of a function of the program by a function of the program\n"
        "[ANSWER]{('f', 'f'): 1, ('f', 'g'): 2}[/ANSWER]"
    ),
    "stdout": "[ANSWER]\n0\n1\n[/ANSWER]",
}
_EXAMPLE_PRINTS = "for i in range(2):\n    print(i)"
_EXAMPLE_CALLS = """\
def g(x):
    return x % 2

def f(x):
    if g(x):
        return f(x + 1)
    return x"""
_EXAMPLE_CHANGES = """\
class Stack:
    def __init__(self):
        self.items = []
        self.size = 0

def push(stack, x):
    stack.items.append(x)
    stack.size += 1"""
_EXAMPLE_RETURNED = """\
class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y

def both(point, step):
    moved = Point(point.x + step, point.y)
    return [point, moved, moved]"""
_EXAMPLE_MADE = """\
class Stack:
    def __init__(self, items):
        self.items = list(items)
        self.size = len(self.items)"""
_CODE = {
    "stdout": _EXAMPLE_PRINTS,
    "calls": _EXAMPLE_CALLS,
    "changes": _EXAMPLE_CHANGES,
    "returned": _EXAMPLE_RETURNED,
    "made": _EXAMPLE_MADE,
}
_BY_TEXT = frozenset({"output", "returned", "made", "stdout", "input", "calls", "changes"})
"""Forms whose prompts show the source without line numbers."""


def files_text(files: Sequence[ShownSource], *, numbered: bool) -> str:
    """The sources in fences. A single file needs no name."""
    texts = []
    for shown in files:
        head = "Program:" if len(files) == 1 and shown.whole else f"File {shown.file}:"
        left_out = "" if shown.whole else " (what does not matter here is left out)"
        texts.append(f"{head[:-1]}{left_out}:\n{fenced(shown.text(numbered=numbered), 'python')}")
    return "\n\n".join(texts)


OBJECTS = (
    "Objects are written Class#number(attribute=value, ...), as they are when the call is made. Objects "
    "with one "
    "number are one object."
)
"""Stands below a call with objects as arguments."""


def functions_text(program: Program) -> str:
    """Stands below a call with functions, or objects of classes of the tests, among its arguments."""
    known = program.extra.get("functions")
    if not isinstance(known, dict) or not known:
        return ""
    texts = [
        f"<{'class' if text.startswith('class ') else 'function'} {name}>:\n{fenced(text, 'python')}"
        for name, text in known.items()
    ]
    return "\nFunctions and classes of the arguments, and what these use:\n" + "\n".join(texts)


def how_run(program: Program, source: str | None = None) -> str:
    """In one phrase, how a program is run. source: the text with the function that is called, where that is
    not the program's."""
    if program.mode is Mode.CALL:
        return called(program, source)
    if program.mode is Mode.SESSION:
        return "as typed at the interactive prompt, where the value of an expression is shown"
    return "as a script"


def parts_of(form: str, files: Sequence[ShownSource], task: str) -> dict[str, str]:
    """The parts of a prompt: what is asked, an example, the program, and this question."""
    numbered = form not in _BY_TEXT
    code = _CODE.get(form, _EXAMPLE_NUMBERED if numbered else _EXAMPLE_CODE)
    return {
        "task": TASKS[form],
        "example": f"{EXAMPLE}\n\nProgram:\n{fenced(code, 'python')}\n{_EXAMPLES[form]}",
        "program": f"{YOURS}\n\n{files_text(files, numbered=numbered)}",
        "question": task,
    }


def own_parts(task: str, files: Sequence[ShownSource], asked: str, *, numbered: bool) -> dict[str, str]:
    """The parts of a prompt for a kind of question that deskcheck does not have."""
    return {
        "task": f"{task}\n{_TAGS}",
        "program": files_text(files, numbered=numbered),
        "question": asked,
    }


WORK_ON = {
    "write": "",
    "complete": "Complete this code",
    "repair": "This code is wrong. Repair it",
    "edit": "Edit this code",
    "speed": "This code is right, and slow. Write one that does the same in fewer steps of Python",
}
"""What is said of the code that a task gives, by `coding.WORK`."""


def program_parts(task: CodingTask) -> dict[str, str]:
    """The parts of a prompt that asks for a program: the work in general, this task, its code, its form."""
    work = TASKS["program"].replace(_OUTSIDE, _INSIDE) if task.unittest else TASKS["program"]
    parts = {"task": work, "program": task.prompt.rstrip()}
    if task.history:
        earlier = "\n\n".join(fenced_code(code) for code in task.history)
        parts["history"] = f"Earlier versions of the code, oldest first:\n{earlier}"
    if task.code:
        parts["code"] = f"{WORK_ON[task.task] or 'Code that is there'}:\n{fenced_code(task.code)}"
    if task.visible_tests:
        parts["tests"] = "Some of the tests:\n" + fenced_code("\n".join(task.visible_tests))
    modules = ", ".join(["the standard library", *task.modules])
    wanted = (
        "A script: it reads standard input and prints to standard output."
        if task.entry_point is None
        else f"Name to define: {task.entry_point}"
    )
    return parts | {"question": f"Modules that are there: {modules}\n{wanted}"}


def _of_view(view: str, form: str) -> str:
    """Which variables a view shows, and how they are written, as the prompt says it."""
    match view:
        case "names":
            return f"{STATE}, as name: type:"
        case "used" if form == "next_cell":
            which = " that the last cells read or bound"
        case "used":
            which = " that the cell depends on"
        case "changed":
            which = " that the last cell added, bound again or changed"
        case _:
            which = ""
    return f"{STATE}{which}, as name: type = value:"


def notebook_parts(
    form: str, history: str, view: str, state: str, label: str, source: str, *, restarted: bool
) -> dict[str, str]:
    """The parts of a prompt about a notebook: what is asked, the cells before, the variables, the question.

    view: one of `VIEWS` of notebooks; with ``none`` the part with the variables is not there. state: the
    text of that view. label, source: of the cell that is executed now, empty where that is the question.
    """
    parts = {
        "task": TASKS[form],
        "history": f"{BEFORE}\n\n{history.rstrip()}",
    }
    if view != "none":
        shown = state.rstrip() or "(none)"
        parts["state"] = f"{_of_view(view, form)}\n{fenced(shown)}"
    question = "The kernel was restarted: all variables are gone.\n" if restarted else ""
    if form in ("cell_output", "crash"):
        question += f"{NOW} {label}:\n{fenced(source, 'python')}"
    else:
        question += "The next cell:"
    return parts | {"question": question}
