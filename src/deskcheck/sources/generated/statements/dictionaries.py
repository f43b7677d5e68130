"""Level 7, dictionaries and sets: made, looked up, counted in, changed. `loops` has loops over them."""

from deskcheck.sources.generated.statements.lists import loop_name
from deskcheck.sources.generated.writing.values import KEYS, Operand
from deskcheck.sources.generated.writing.writer import ProgramWriter, Rules

RULES = Rules()


def key_for(w: ProgramWriter, a: Operand) -> str:
    """A key for a dict: a variable or a constant of the type of its keys."""
    if a.keys == "int":
        return w.number_in(0, 9).text
    choices = [v for v in w.of("str") if v.hi <= 6]
    if choices and w.chance(0.7):
        return w.recent(choices).text
    return f'"{w.word() if w.chance(0.3) else w.letter()}"'


@RULES.enter("int", 7, 6)
def _lookup(w: ProgramWriter, depth: int) -> Operand:
    a = w.choose(w.of("dict"))
    default = w.between(max(a.item_lo, 0), min(a.item_hi, 3))
    return Operand(f"{a.text}.get({key_for(w, a)}, {default})", "int", min(a.item_lo, 0), a.item_hi)


@RULES.enter("int", 7, 1.5)
def _of_dict(w: ProgramWriter, depth: int) -> Operand:
    a = w.choose([v for v in w.of("dict") if v.hi <= 4 and v.item_hi <= 999])
    return Operand(f"sum({a.text}.values())", "int", min(0, a.item_lo * a.hi), max(0, a.item_hi * a.hi))


@RULES.enter("list", 7, 4)
def _keys_list(w: ProgramWriter, depth: int) -> Operand:
    a = w.choose(w.of("dict"))
    if w.below(3) == 0:
        return Operand(f"list({a.text}.values())", "list", a.lo, a.hi, 3, "int", a.item_lo, a.item_hi)
    kind, low, high = ("str", 0, 8) if a.keys == "str" else ("int", 0, 99)
    return Operand(f"{w.pick(('list', 'sorted'))}({a.text})", "list", a.lo, a.hi, 3, kind, low, high)


@RULES.enter("list", 7, 1.5)
def _set_list(w: ProgramWriter, depth: int) -> Operand:
    return Operand(f"sorted({w.choose(w.of('set')).text})", "list", 0, 8, 3, "int", 0, 99)


@RULES.enter("condition", 7, 5)
def _key_test(w: ProgramWriter) -> str:
    a = w.choose(w.of("dict") + w.of("set"))
    key = key_for(w, a) if a.kind == "dict" and a.keys == "str" else w.number_in(0, 7).at(1)
    return f"{key} {'not ' if w.chance(0.3) else ''}in {a.text}"


@RULES.enter("statement", 7, 6)
def _new_dict(w: ProgramWriter) -> None:
    w.need_room()
    name = w.fresh("dict")
    keys = w.pick(("str", "str", "int"))
    n = w.pick((0, 0, 1, 2, 3))
    choices = [v for v in w.of("list", "int") if v.hi <= 4]
    text = loop_name(w, "item")
    if choices and text is not None and w.chance(0.2):
        a = w.recent(choices)
        if a.item_lo >= 0 and a.item_hi <= 99:
            w.write(f"{name} = {{{text}: {text} * 2 for {text} in {a.text}}}")
            w.declare(name, Operand(name, "dict", 0, a.hi, 3, "int", 0, 999, "int"))
            return
    parts = {
        (f'"{w.word()}"' if keys == "str" else str(w.below(10))): w.literal(0, 20).text for _ in range(n)
    }
    w.write(f"{name} = {{{', '.join(f'{k}: {v}' for k, v in parts.items())}}}")
    w.declare(name, Operand(name, "dict", len(parts), len(parts), 3, "int", 0, 999, keys))


@RULES.enter("statement", 7, 9)
def set_key(w: ProgramWriter) -> None:
    a = w.choose(w.growable("dict"))
    w.need(w.may_grow(a, 0, 1, KEYS))
    key = key_for(w, a)
    form = w.below(5)
    if form == 0 and not a.looped and w.chance(0.5):
        w.write(f"{a.text}.setdefault({key}, {w.below(10)})")
    elif form <= 2:
        # What a loop counts is far less than the 99 that are kept free for it.
        w.write(f"{a.text}[{key}] = {a.text}.get({key}, 0) + {w.pick((1, 1, 1, 2))}")
    else:
        w.write(f"{a.text}[{key}] = {w.number_in(0, 900).text}")


@RULES.enter("statement", 7, 3)
def _change_dict(w: ProgramWriter) -> None:
    w.need(w.indent <= 4)
    a = w.choose(w.growable("dict"))
    w.need(not (a.looped and a.base_lo > 0))
    key = key_for(w, a) if a.keys == "str" else str(w.below(10))
    form = w.below(3)
    if form == 0:
        w.write(f"{a.text}.pop({key}, None)")
    else:
        with w.under(f"if {key} in {a.text}:"):
            w.write(f"del {a.text}[{key}]" if form == 1 else f"{a.text}[{key}] = {w.below(10)}")
    if not a.looped:
        a.lo = 0


@RULES.enter("statement", 7, 3)
def _new_set(w: ProgramWriter) -> None:
    w.need_room()
    name = w.fresh("set")
    form = w.below(3)
    choices = [v for v in w.of("list", "int") if v.item_lo >= 0 and v.item_hi <= 7]
    if form == 0:
        w.write(f"{name} = set()")
    elif form == 1 and choices:
        w.write(f"{name} = set({w.recent(choices).text})")
    else:
        low = w.below(3)
        w.write(f"{name} = {{{low}, {low + w.between(1, 4)}}}")
    w.declare(name, Operand(name, "set", 0, 8, 3, "int", 0, 7))


@RULES.enter("statement", 7, 5)
def _change_set(w: ProgramWriter) -> None:
    a = w.choose([v for v in w.of("set") if not v.locked])
    item = w.number_in(0, 7).text
    w.write(f"{a.text}.{w.pick(('add', 'add', 'add', 'discard'))}({item})")


@RULES.enter("statement", 7, 1)
def _combine_sets(w: ProgramWriter) -> None:
    w.need_room()
    a, b = w.choose(w.of("set")), w.below(5)
    name = w.fresh("set")
    w.write(f"{name} = {a.text} {w.pick('|&-')} {{{b}, {b + w.between(1, 3)}}}")
    w.declare(name, Operand(name, "set", 0, 8, 3, "int", 0, 7))
