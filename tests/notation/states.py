"""What the tests of notations share: whether a text tells the same as the trace that it was written from."""

from collections.abc import Sequence

from deskcheck.notation import NOTATIONS, Moment, Parsed, claims, cwm_kept, ending, inline_claims

BY_LINE = [name for name, notation in NOTATIONS.items() if not notation.instructions]


def differs(name: str, states: Sequence[Moment], source: str) -> str:
    """Where what a notation keeps of the states is not what is read from its text; empty where it is."""
    notation = NOTATIONS[name]
    text = notation.write(iter(states), source)
    told = notation.parse(text)
    if told.unreadable:
        return f"{name}: cannot be read: {told.unreadable[0]}"
    kept, found = _kept(name, states, told)
    if len(kept) != len(found):
        return f"{name}: {len(kept)} are kept and {len(found)} were read"
    for at, (one, two) in enumerate(zip(kept, found, strict=True)):
        if one != two:
            shown = [m.canonical() if isinstance(m, Moment) else str(m) for m in (one, two)]
            return f"{name}: number {at}:\n{shown[0]}\n{shown[1]}"
    return ""


def _kept(name: str, states: Sequence[Moment], told: Parsed) -> tuple[list[object], list[object]]:
    match name:
        case "direct":
            last = ending(states)
            return ([] if last is None else [last]), list(told.moments)
        case "cwm":
            return list(cwm_kept(states)), list(told.moments)
        case "inline":
            return list(inline_claims(states)), list(told.claims)
        case "monologue":
            return list(claims(states)), list(told.claims)
    return list(states), list(told.moments)
