"""A state as an edit of the one before: only the effects of a line.

    5: n=4, xs=[1, 2]            the frame continues: its line, and variables that are new or changed
    return 5 -> 3                the kind of an event that is not of a line; the text after the variables
    2: del k, for x=1 |          a deleted variable; a changed value stack, or none
    6: xs[2]=5, del d['a']       a new, changed or deleted item of a list or a dictionary
    6: xs[]=1, del xs[-1]        a new last item of a list; its deleted last item
    6: xs=#1= -> #1, xs=#=       a new or changed label of a list or a dictionary; a deleted label
    4: i=2 | +                   the iterator on top of the value stack has advanced by one
    > call f 1 from 3:5-8: n=3   a frame was entered: the new last line, in full
    < 4: y=6                     a frame has ended: an edit of the one below it
    @1 7 | #1, 3                 a further line for each other frame, named by its line in the state
    = globals: k=1 ...           anything else: the whole state

Edits connect texts in the notation `dynamic`. They are exact: `edited(before, edit_text(before, after))` is
`after` for any two texts, since an edit that would give something else is replaced by the whole state. A
small model that answers in edits learns the effects of lines instead of copying, and writes a tenth as much.
"""

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from deskcheck.notation.lines import KIND_WORDS
from deskcheck.notation.state import ENDS

_WHOLE, _ENTERED, _LEFT, _OTHER = "= ", "> ", "< ", "\n@"
_FRAME = "frame "
_KINDS = "|".join(sorted(KIND_WORDS - {"line"}))
_HEAD = re.compile(
    rf"(?P<kind>(?:{_KINDS}) )?(?P<title>.+?) (?P<line>[0-9]+(?:@[0-9]+)?)"
    r"(?P<after>(?: from [0-9:-]+)?(?: via .+?)?)(?P<instruction> '.*')?",
    re.DOTALL,
)
_SHORT = re.compile(
    rf"(?P<kind>(?:{_KINDS}) )?(?P<line>[0-9]+(?:@[0-9]+)?)(?P<instruction> '.*')?", re.DOTALL
)
_TAIL = re.compile(r" (?:->|!|<-|prints|left out) ")
_OPEN, _CLOSE = "([{", ")]}"
_STEP = re.compile(
    r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[(\[{)\]}]|<(?=[A-Za-z])|(?<!-)>|[:,| ]", re.DOTALL
)
_GONE = "del "
_ENDED = frozenset(kind.value for kind in ENDS)
_NAME = re.compile(r"[^\W\d]\w*")
_LINE = r"\s*(?:\d+\|)?\s*"
_LOOP = re.compile(rf"{_LINE}for [^=]+? in ")
_ASSIGNED = re.compile(rf"{_LINE}((?:\w+ = )+|\w+ (?:[-+*/%@&|^]|//|\*\*|<<|>>)= )")
_DISPLAY = re.compile(r"([^=\[({]+=(?:#[0-9]+=)?)([\[({])")
_ITEM = re.compile(r"(#?\w+)\[([^=]*)\]", re.DOTALL)
_SUBSCRIPT = re.compile(r"\b([^\W\d]\w*)\[(-?[0-9]+|[^\W\d]\w*|'[^'\\]*'|\"[^\"\\]*\")\]")
_RANGE = re.compile(r"(<range_iterator left=range\()(-?[0-9]{1,9}), (-?[0-9]+(?:, (-?[0-9]{1,9}))?\)>)\Z")
_NEXT = re.compile(r"(, next=)([0-9]{1,9})>\Z")
_OVER = re.compile(r"_iterator over=((?:(?!_iterator over=).)*), next=([0-9]{1,9})>\Z", re.DOTALL)
_ADVANCED = "+"
_LABELLED = re.compile(r"[^=]+=(#[0-9]*=)")
_LABEL = re.compile(r"#[0-9]+")
_LONGEST = 80
"""Characters of a variable, or of a value stack, that `names_of` repeats."""


@dataclass(frozen=True, slots=True)
class _Line:
    """The parts of a state's line. entries: by name, in order. stack: None if there is none."""

    head: str
    entries: dict[str, str]
    stack: str | None
    tail: str

    def text(self) -> str:
        text = f"{self.head}: {', '.join(self.entries.values())}" if self.entries else self.head
        if self.stack is not None:
            text += f" | {self.stack}" if self.stack else " |"
        return text + self.tail


@dataclass(frozen=True, slots=True)
class _Display:
    """The parts of a list, tuple or dictionary that is written as the value of a variable."""

    begin: str
    """The text before the items."""
    items: dict[str, str]
    """The texts of the items, by index or key."""

    def text(self) -> str:
        keyed = self.begin[-1] == "{"
        parts = [f"{key}: {item}" if keyed else item for key, item in self.items.items()]
        return self.begin + ", ".join(parts) + _CLOSE[_OPEN.index(self.begin[-1])]


def edit_text(before: str, after: str, line: str = "", *, parts: bool = True) -> str:
    """The shortest edit by which `edited` makes `after` from `before`.

    The variables that a line of code assigns are always included, even with unchanged values. parts: write
    single items, and the advance of iterators. Without `parts`, values are whole, as in earlier versions.
    """
    old, new = before.split("\n"), after.split("\n")
    names = assigned(line)
    if len(new) == len(old):
        text = _difference(old[-1], new[-1], names, parts)
    elif len(new) > len(old):
        text = _ENTERED + new[-1]
    else:
        text = _LEFT + _difference(old[len(new) - 1].removeprefix(_FRAME), new[-1], names, parts)
    edited_lines = edited(before, text).split("\n")
    if len(edited_lines) == len(new):
        for number, (line_made, line_wanted) in enumerate(zip(edited_lines, new, strict=True)):
            if line_made != line_wanted and line_made.startswith(_FRAME) and line_wanted.startswith(_FRAME):
                change = _difference(
                    line_made.removeprefix(_FRAME), line_wanted.removeprefix(_FRAME), (), parts
                )
                text += f"{_OTHER}{number} {change}"
    return text if edited(before, text) == after else _WHOLE + after


def edited(before: str, text: str) -> str:
    """The state after an edit. Never raises: if the text is not an edit, the result is not a state."""
    if text.startswith(_WHOLE):
        return text.removeprefix(_WHOLE)
    text, *others = text.split(_OTHER)
    lines = before.split("\n")
    last = lines.pop()
    if text.startswith(_ENTERED):
        below = _line(last)
        head_match = _HEAD.fullmatch(below.head)
        if head_match is None:
            return text
        head = _FRAME + head_match["title"] + " " + head_match["line"] + head_match["after"]
        lines.append(_Line(head, below.entries, below.stack, "").text())
        last = text.removeprefix(_ENTERED)
    elif text.startswith(_LEFT):
        if not lines or not lines[-1].startswith(_FRAME):
            return text
        last = _changed(lines.pop().removeprefix(_FRAME), text.removeprefix(_LEFT))
    else:
        last = _changed(last, text)
    lines.append(last)
    for edit_of_line in others:
        number, _, change = edit_of_line.partition(" ")
        if not (number.isascii() and number.isdecimal() and int(number[:9]) < len(lines)):
            return text
        lines[int(number)] = _FRAME + _changed(lines[int(number)].removeprefix(_FRAME), change)
    return "\n".join(lines)


def assigned(line: str) -> list[str]:
    """The plain variables that a line of code assigns: a and b in ``a = b = c``, a in ``a += b``."""
    assignment = _ASSIGNED.match(line)
    return _NAME.findall(assignment[1]) if assignment else []


def names_of(state: str, line: str, *, parts: bool = True) -> str:
    """The variables that a line of code reads, with their values in a state: ``total=0, i=1``.

    They are variables of the running frame, or else globals, in the order of the line, without definitions
    and long values. If a variable is only indexed by a variable or a constant, only the item is included:
    ``i=1, xs[i]=5`` (without `parts`, the whole value). At a loop, the value stack with the loop's iterator
    and its next item follow: ``| <iterator> next 5``, ``| <iterator> ended``.
    """
    *below, last = state.split("\n")
    frame_line = _line(last)
    kind, _, _ = frame_line.head.partition(" ")
    if kind in _ENDED and below:
        frame_line = _line(below[-1].removeprefix(_FRAME))
    entries: dict[str, str] = {}
    if state.startswith("globals: "):
        entries |= _line(below[0] if below else last).entries
    entries |= frame_line.entries
    loop = _LOOP.match(line)
    target = loop or _ASSIGNED.match(line)
    read = line[target.end() :] if target and target[0].endswith((" = ", " in ")) else line
    items: dict[str, None] = {}

    def looked_up(subscript: re.Match[str]) -> str:
        name, index = subscript[1], subscript[2]
        item = _item(entries.get(name, ""), entries.get(index, f"={index}"), [*below, last])
        if item is None or len(item) > _LONGEST:
            return subscript[0]
        items[f"{subscript[0]}={item}"] = None
        return index

    if parts:
        read = _SUBSCRIPT.sub(looked_up, read)
    entries_read = [entries[name] for name in dict.fromkeys(_NAME.findall(read)) if name in entries]
    listed = ", ".join(
        [entry for entry in entries_read if "=" in entry and len(entry) <= _LONGEST] + [*items]
    )
    if loop and frame_line.stack:
        stack = frame_line.stack if len(frame_line.stack) <= _LONGEST else ""
        coming = _upcoming(frame_line.stack, [*below, last]) if parts else ""
        listed += " | " + " ".join(filter(None, (stack, coming))) if stack or coming else ""
    return listed


def _difference(old: str, new: str, always: Sequence[str], parts: bool) -> str:
    """The edit between two lines of a frame. always: variables to include even if they are unchanged."""
    before, after = _line(old), _line(new)
    head_match = _HEAD.fullmatch(after.head)
    if head_match is None:
        return _WHOLE
    head = f"{head_match['kind'] or ''}{head_match['line']}{head_match['instruction'] or ''}"
    changed = {
        key: text for key, text in after.entries.items() if before.entries.get(key) != text or key in always
    }
    changed |= {key: _GONE + key for key in before.entries if key not in after.entries}
    stack = after.stack if after.stack != before.stack else None
    if after.stack is None and before.stack is not None:
        stack = ""
    elif parts and stack and stack == _advanced(before.stack or ""):
        stack = _ADVANCED
    shorter = {
        part: text
        for key, entry in changed.items()
        for part, text in _in_items(before.entries.get(key), key, entry).items()
    }
    if parts and shorter != changed:
        text = _Line(head, shorter, stack, after.tail).text()
        if _changed(old, text) == new:
            return text
    return _Line(head, changed, stack, after.tail).text()


def _in_items(old: str | None, key: str, entry: str) -> Mapping[str, str]:
    """The entries of an edit for a changed variable: its items if one differs, or if that is shorter."""
    before, after = old and _display(old), _display(entry)
    if not before or not after or after.begin[-1] == "(" or before.begin[-1] != after.begin[-1]:
        return {key: entry}
    if before.begin != after.begin:
        label = after.begin[len(key) + 1 : -1] or "#="
        return {key: f"{key}={label}" if before.items == after.items else entry}
    changed = {at: item for at, item in after.items.items() if before.items.get(at) != item}
    removed = [at for at in before.items if at not in after.items]
    if after.begin[-1] == "[":
        more = [at for at in changed if at not in before.items]
        if len(more) + len(removed) > 1:
            return {key: entry}
        changed = {"" if at in more else at: item for at, item in changed.items()}
        removed = ["-1" for _ in removed]
    texts = [f"{key}[{at}]={item}" for at, item in changed.items()]
    texts += [f"{_GONE}{key}[{at}]" for at in removed]
    if not texts or (len(texts) > 1 and len(", ".join(texts)) >= len(entry)):
        return {key: entry}
    return {_key(text): text for text in texts}


def _with_label(display: str, label: str) -> str | None:
    """A variable's list or dictionary with a label; ``#=`` removes the label. None for other values."""
    parsed = _display(display)
    if parsed is None:
        return None
    name = parsed.begin.partition("=")[0]
    return _Display(f"{name}={'' if label == '#=' else label}{parsed.begin[-1]}", parsed.items).text()


def _put(display: str, key: str, entry: str | None) -> str | None:
    """A variable's list or dictionary with a changed item, or without the item if `entry` is None.

    None if the item does not exist.
    """
    parsed = _display(display)
    if parsed is None or parsed.begin[-1] == "(":
        return None
    size = len(parsed.items)
    if parsed.begin[-1] == "[" and entry is not None and not key:
        key = str(size)
        parsed.items[key] = entry
    elif parsed.begin[-1] == "[" and entry is None and key == "-1" and size:
        parsed.items.popitem()
    elif entry is not None and key and (key in parsed.items or parsed.begin[-1] == "{"):
        parsed.items[key] = entry
    elif entry is None and parsed.begin[-1] == "{" and key in parsed.items:
        del parsed.items[key]
    else:
        return None
    return parsed.text()


def _item(entry: str, index: str, lines: Iterable[str]) -> str | None:
    """The item at an index of a variable's list, tuple, dictionary or text. Both are ``name=value``.

    lines: the lines of the state, which contain the objects with labels.
    """
    items_of, at = _held(entry, lines), index.partition("=")[2]
    if items_of is None:
        return None
    if items_of.begin[-1] != "{" and at[:1] == "-" and at[1:10].isdecimal():
        at = str(len(items_of.items) + int(at[:10]))
    return items_of.items.get(at)


def _held(entry: str, lines: Iterable[str]) -> _Display | None:
    """The items of a variable's list, tuple, dictionary or text, or of the object with its label."""
    value = entry.partition("=")[2]
    if _LABEL.fullmatch(value):
        entry = next(
            (
                text
                for line in lines
                for text in _line(line).entries.values()
                if text.startswith(value + "=") or f"={value}=" in text[: text.find("[") + 1]
            ),
            "",
        )
    if value[:1] in ("'", '"'):
        try:
            return _Display(
                "'", {str(at): repr(character) for at, character in enumerate(ast.literal_eval(value))}
            )
        except (ValueError, SyntaxError):
            return None
    return _display(entry)


def _upcoming(stack: str, lines: Iterable[str]) -> str:
    """The next item of the iterator on top of a value stack: ``next 5``, or ``ended``.

    Empty if the item cannot be looked up.
    """
    if iterator := _RANGE.search(stack):
        start, step = int(iterator[2]), int(iterator[4] or 1)
        stop = int(iterator[3].rstrip(")>").partition(",")[0])
        return "ended" if (stop - start) * step <= 0 else f"next {start}"
    iterator = _OVER.search(stack)
    items_of = _held(f"over={iterator[1]}", lines) if iterator else None
    if iterator is None or items_of is None or items_of.begin[-1] == "{":
        return ""
    item = items_of.items.get(iterator[2])
    if item is None:
        return "ended"
    return f"next {item}" if len(item) <= _LONGEST else ""


def _changed(old: str, text: str) -> str:
    """A line after an edit."""
    before, edit = _line(old), _line(text)
    head, short = _HEAD.fullmatch(before.head), _SHORT.fullmatch(edit.head)
    if head is None or short is None:
        return text
    entries = dict(before.entries)
    labelled = {key: entries.pop(key) for key in list(entries) if key.startswith("#")}
    for key, entry in edit.entries.items():
        removed = key.startswith(_GONE)
        among = labelled if key.removeprefix(_GONE).startswith("#") else entries
        item = _ITEM.fullmatch(key.removeprefix(_GONE))
        if item and item[1] in among:
            put = _put(among[item[1]], item[2], None if removed else entry.removeprefix(key + "="))
            if put is None:  # left as it is said, which no state can hold
                among[key] = entry
            else:
                among[item[1]] = put
        elif key in among and (label := _LABELLED.fullmatch(entry)):
            among[key] = _with_label(among[key], label[1]) or entry
        elif removed:
            among.pop(key.removeprefix(_GONE), None)
        else:
            among[key] = entry
    kind, line, instruction = (short[name] or "" for name in ("kind", "line", "instruction"))
    # A frame is entered in full; what goes on has the same name and comes from the same place.
    stack = before.stack if edit.stack is None else edit.stack or None
    if stack == _ADVANCED and before.stack:
        stack = _advanced(before.stack) or stack
    return _Line(
        f"{kind}{head['title']} {line}{head['after']}{instruction}", entries | labelled, stack, edit.tail
    ).text()


def _advanced(stack: str) -> str | None:
    """A value stack after its top, an iterator, has advanced by one; None if the top is not an iterator."""
    if iterator := _RANGE.search(stack):
        return f"{stack[: iterator.end(1)]}{int(iterator[2]) + int(iterator[4] or 1)}, {iterator[3]}"
    if iterator := _NEXT.search(stack):
        return f"{stack[: iterator.end(1)]}{int(iterator[2]) + 1}>"
    return None


def _display(entry: str) -> _Display | None:
    """The list, tuple or dictionary that is the value of a variable; None for other and for cut values."""
    opening = _DISPLAY.match(entry)
    if opening is None or entry[-1] != _CLOSE[_OPEN.index(opening[2])]:
        return None
    items: dict[str, str] = {}
    depth, start, key = 0, opening.end(), None
    for step in _STEP.finditer(entry, start):
        what, at = step[0], step.start()
        if what in _OPEN or what == "<":
            depth += 1
        elif depth and (what in _CLOSE or what == ">"):
            depth -= 1
        elif depth:
            continue
        elif what == ":" and key is None and opening[2] == "{":
            key, start = entry[start:at], at + 2
        elif what in _CLOSE or (what == "," and entry.startswith(", ", at)):
            part = entry[start:at]
            if part.startswith("...") or (opening[2] == "{" and key is None and part):
                return None
            if part:
                part = part.removesuffix(",")  # of a tuple of one
                items[str(len(items)) if key is None else key] = part
            key, start = None, at + 2
            if what in _CLOSE:
                return _Display(entry[: opening.end()], items) if at == len(entry) - 1 else None
    return None


def _line(text: str) -> _Line:
    """The parts of a line. Commas in brackets and quotes do not divide it."""
    depth = 0
    head: str | None = None
    parts: list[str] = []
    start = 0
    stack: int | None = None
    tail = len(text)
    for token in _STEP.finditer(text):
        what, at = token[0], token.start()
        if what in _OPEN or what == "<":
            depth += 1
        elif what in _CLOSE or what == ">":
            depth = max(0, depth - 1)
        elif depth:
            continue
        elif what == ":" and head is None and text.startswith(": ", at):
            head, start = text[:at], at + 2
        elif what == "," and head is not None and stack is None and text.startswith(", ", at):
            parts.append(text[start:at])
            start = at + 2
        elif what == " " and stack is None and (text.startswith(" | ", at) or text[at:] == " |"):
            stack = at
        elif what == " " and _TAIL.match(text, at):
            tail = at
            break
    end = tail if stack is None else stack
    if head is None:
        head = text[:end]
    else:
        parts.append(text[start:end])
    stack_text = None if stack is None else text[stack + 2 : tail].removeprefix(" ")
    return _Line(head, {_key(part): part for part in parts}, stack_text, text[tail:])


def _key(entry: str) -> str:
    """The name of a variable or an object in ``name=value``, ``def name`` or ``class name``."""
    if entry.startswith(_GONE):
        return entry
    name, equals, _ = entry.partition("=")
    return name if equals else entry.removeprefix("def ").removeprefix("class ")
