"""Level 7, dictionaries and sets: creating, reading, counting, changing. `loops` has the loops over them."""

from deskcheck.sources.generated.statements.lists import loop_name
from deskcheck.sources.generated.writing.values import KEYS, Operand
from deskcheck.sources.generated.writing.writer import ProgramWriter, Rules

RULES = Rules()


def key_for(writer: ProgramWriter, container: Operand) -> str:
    """A key for a dict: a variable or a constant of the type of its keys."""
    if container.keys == "int":
        return writer.number_in(0, 9).text
    choices = [v for v in writer.of("str") if v.hi <= 6]
    if choices and writer.chance(0.7):
        return writer.recent(choices).text
    return f'"{writer.word() if writer.chance(0.3) else writer.letter()}"'


@RULES.enter("int", 7, 6)
def _lookup(writer: ProgramWriter, depth: int) -> Operand:
    container = writer.choose(writer.of("dict"))
    default = writer.between(max(container.item_lo, 0), min(container.item_hi, 3))
    return Operand(
        f"{container.text}.get({key_for(writer, container)}, {default})",
        "int",
        min(container.item_lo, 0),
        container.item_hi,
    )


@RULES.enter("int", 7, 1.5)
def _of_dict(writer: ProgramWriter, depth: int) -> Operand:
    container = writer.choose([v for v in writer.of("dict") if v.hi <= 4 and v.item_hi <= 999])
    return Operand(
        f"sum({container.text}.values())",
        "int",
        min(0, container.item_lo * container.hi),
        max(0, container.item_hi * container.hi),
    )


@RULES.enter("list", 7, 4)
def _keys_list(writer: ProgramWriter, depth: int) -> Operand:
    container = writer.choose(writer.of("dict"))
    if writer.below(3) == 0:
        return Operand(
            f"list({container.text}.values())",
            "list",
            container.lo,
            container.hi,
            3,
            "int",
            container.item_lo,
            container.item_hi,
        )
    kind, low, high = ("str", 0, 8) if container.keys == "str" else ("int", 0, 99)
    return Operand(
        f"{writer.pick(('list', 'sorted'))}({container.text})",
        "list",
        container.lo,
        container.hi,
        3,
        kind,
        low,
        high,
    )


@RULES.enter("list", 7, 1.5)
def _set_list(writer: ProgramWriter, depth: int) -> Operand:
    return Operand(f"sorted({writer.choose(writer.of('set')).text})", "list", 0, 8, 3, "int", 0, 99)


@RULES.enter("condition", 7, 5)
def _key_test(writer: ProgramWriter) -> str:
    container = writer.choose(writer.of("dict") + writer.of("set"))
    key = (
        key_for(writer, container)
        if container.kind == "dict" and container.keys == "str"
        else writer.number_in(0, 7).at(1)
    )
    return f"{key} {'not ' if writer.chance(0.3) else ''}in {container.text}"


@RULES.enter("statement", 7, 6)
def _new_dict(writer: ProgramWriter) -> None:
    writer.need_room()
    name = writer.fresh("dict")
    keys = writer.pick(("str", "str", "int"))
    n = writer.pick((0, 0, 1, 2, 3))
    choices = [v for v in writer.of("list", "int") if v.hi <= 4]
    text = loop_name(writer, "item")
    if choices and text is not None and writer.chance(0.2):
        container = writer.recent(choices)
        if container.item_lo >= 0 and container.item_hi <= 99:
            writer.write(f"{name} = {{{text}: {text} * 2 for {text} in {container.text}}}")
            writer.declare(name, Operand(name, "dict", 0, container.hi, 3, "int", 0, 999, "int"))
            return
    parts = {
        (f'"{writer.word()}"' if keys == "str" else str(writer.below(10))): writer.literal(0, 20).text
        for _ in range(n)
    }
    writer.write(f"{name} = {{{', '.join(f'{k}: {v}' for k, v in parts.items())}}}")
    writer.declare(name, Operand(name, "dict", len(parts), len(parts), 3, "int", 0, 999, keys))


@RULES.enter("statement", 7, 9)
def set_key(writer: ProgramWriter) -> None:
    container = writer.choose(writer.growable("dict"))
    writer.need(writer.may_grow(container, 0, 1, KEYS))
    key = key_for(writer, container)
    form = writer.below(5)
    if form == 0 and not container.looped and writer.chance(0.5):
        writer.write(f"{container.text}.setdefault({key}, {writer.below(10)})")
    elif form <= 2:
        # A loop counts far less than the 99 that are reserved for it.
        writer.write(
            f"{container.text}[{key}] = {container.text}.get({key}, 0) + {writer.pick((1, 1, 1, 2))}"
        )
    else:
        writer.write(f"{container.text}[{key}] = {writer.number_in(0, 900).text}")


@RULES.enter("statement", 7, 3)
def _change_dict(writer: ProgramWriter) -> None:
    writer.need(writer.indent <= 4)
    container = writer.choose(writer.growable("dict"))
    writer.need(not (container.looped and container.base_lo > 0))
    key = key_for(writer, container) if container.keys == "str" else str(writer.below(10))
    form = writer.below(3)
    if form == 0:
        writer.write(f"{container.text}.pop({key}, None)")
    else:
        with writer.under(f"if {key} in {container.text}:"):
            writer.write(
                f"del {container.text}[{key}]"
                if form == 1
                else f"{container.text}[{key}] = {writer.below(10)}"
            )
    if not container.looped:
        container.lo = 0


@RULES.enter("statement", 7, 3)
def _new_set(writer: ProgramWriter) -> None:
    writer.need_room()
    name = writer.fresh("set")
    form = writer.below(3)
    choices = [v for v in writer.of("list", "int") if v.item_lo >= 0 and v.item_hi <= 7]
    if form == 0:
        writer.write(f"{name} = set()")
    elif form == 1 and choices:
        writer.write(f"{name} = set({writer.recent(choices).text})")
    else:
        low = writer.below(3)
        writer.write(f"{name} = {{{low}, {low + writer.between(1, 4)}}}")
    writer.declare(name, Operand(name, "set", 0, 8, 3, "int", 0, 7))


@RULES.enter("statement", 7, 5)
def _change_set(writer: ProgramWriter) -> None:
    container = writer.choose([v for v in writer.of("set") if not v.locked])
    item = writer.number_in(0, 7).text
    writer.write(f"{container.text}.{writer.pick(('add', 'add', 'add', 'discard'))}({item})")


@RULES.enter("statement", 7, 1)
def _combine_sets(writer: ProgramWriter) -> None:
    writer.need_room()
    a, b = writer.choose(writer.of("set")), writer.below(5)
    name = writer.fresh("set")
    writer.write(f"{name} = {a.text} {writer.pick('|&-')} {{{b}, {b + writer.between(1, 3)}}}")
    writer.declare(name, Operand(name, "set", 0, 8, 3, "int", 0, 7))
