"""``monologue``: a run in sentences, one on each line, which are made from the recording and therefore true.

The notation follows the forward monologues of SemCoder (Ding et al. 2024, arXiv:2406.01006) and the
trace-grounded rationales of arXiv:2512.00127. There, a model writes them and a filter checks them. Here they
are written from the trace, and `claims.untrue` checks those of a model.

    Step 0 calls total (line 1) with n = 3.
    Step 1 runs line 2.
    Step 1 (line 2) sets t to 0.
    Step 9 (line 5) returns 3.

It includes every claim (see `claims` for what these leave out).
"""

import re
from collections.abc import Callable, Iterable, Iterator

from deskcheck.notation.claims import Claim, What, claims
from deskcheck.notation.forms.inline import read_text, variable
from deskcheck.notation.lines import Parsed, Unreadable, unreadable
from deskcheck.notation.state import Moment
from deskcheck.notation.values import Objects, Reader, Unread, title_text

_STEP = re.compile(r"Step ([0-9]{1,9})\b")
_LINE = re.compile(r"\(line ([0-9]{1,9})\)")


def monologue_lines(moments: Iterable[Moment]) -> Iterator[str]:
    """The sentences. Neighbouring claims of a step share a sentence."""
    for sentence in _sentences(moments):
        step, line, what = sentence[0].step, sentence[0].line, sentence[0].what
        if what is What.RUNS:
            yield f"Step {step} runs line {line}."
        elif what is What.CALLS:
            passed = " and ".join([f"{claim.name} = {claim.value}" for claim in sentence[1:]])
            arguments = f" with {passed}" if passed else ""
            function = title_text(sentence[0].name or "", frozenset())
            yield f"Step {step} calls {function} (line {line}){arguments}."
        else:
            yield f"Step {step} (line {line}) {' and '.join(map(_clause, sentence))}."


def _sentences(moments: Iterable[Moment]) -> Iterator[list[Claim]]:
    sentence: list[Claim] = []
    for claim in claims(moments):
        alone = claim.what in (What.RUNS, What.CALLS) or (
            bool(sentence)
            and (
                sentence[-1].what is What.RUNS
                or (sentence[0].what is What.CALLS) != (claim.what is What.PASSES)
            )
        )
        if sentence and (alone or (claim.step, claim.line) != (sentence[-1].step, sentence[-1].line)):
            yield sentence
            sentence = []
        sentence.append(claim)
    if sentence:
        yield sentence


def _clause(claim: Claim) -> str:
    match claim.what:
        case What.SETS:
            return f"sets {claim.name} to {claim.value}"
        case What.UNBINDS:
            return f"unbinds {claim.name}"
        case What.LEAVES:
            return "leaves its function by that exception"
        case What.GAP:
            return f"is followed by a gap of {claim.name} = {claim.value}"
    return f"{claim.what.value} {claim.value}"


def parse_monologue(text: str) -> Parsed:
    """The claims in the sentences of a text, and the places that could not be read. Never raises."""
    all_claims: list[Claim] = []
    failed: list[Unreadable] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            text = line.rstrip()
            if not text.endswith("."):
                raise Unread(len(text), "expected a full stop")
            all_claims += _read(Reader(text[:-1], Objects()))  # without it: 3. is a number too
        except Unread as error:
            failed.append(unreadable(number, line, error))
    return Parsed((), claims=tuple(all_claims), unreadable=tuple(failed))


def _read(reader: Reader) -> list[Claim]:
    step_match = reader.match(_STEP)
    if not step_match:
        raise reader.fail("expected a sentence that begins with Step and a number")
    step = int(step_match[1])
    if reader.word("runs"):
        reader.need("line ")
        read_claims = [Claim(step, reader.integer(), What.RUNS)]
    elif reader.word("calls"):
        read_claims = _read_call(reader, step)
    else:
        line = _line(reader)
        read_claims = _joined(reader, lambda: _read_clause(reader, step, line))
    reader.skip()
    if reader.at < len(reader.line):
        raise reader.fail("expected the end of the sentence")
    return read_claims


def _line(reader: Reader) -> int:
    line_match = reader.match(_LINE)
    if not line_match:
        raise reader.fail("expected the line in parentheses")
    return int(line_match[1])


def _joined(reader: Reader, read: Callable[[], Claim]) -> list[Claim]:
    read_claims = [read()]
    while reader.word("and"):
        read_claims.append(read())
    return read_claims


def _read_call(reader: Reader, step: int) -> list[Claim]:
    name = reader.title()
    line = _line(reader)
    read_claims = [Claim(step, line, What.CALLS, name)]

    def passed() -> Claim:
        parameter = variable(reader)
        reader.need("=")
        return Claim(step, line, What.PASSES, parameter, read_text(reader))

    if reader.word("with"):
        read_claims += _joined(reader, passed)
    return read_claims


_VALUED = {word.value: word for word in (What.RETURNS, What.YIELDS, What.RAISES)}


def _read_clause(reader: Reader, step: int, line: int) -> Claim:
    if reader.word("sets"):
        name = variable(reader)
        reader.need("to ")
        return Claim(step, line, What.SETS, name, read_text(reader))
    if reader.word("unbinds"):
        return Claim(step, line, What.UNBINDS, variable(reader))
    if reader.take("leaves its function by that exception"):
        return Claim(step, line, What.LEAVES)
    if reader.take("is followed by a gap of "):
        name = variable(reader)
        reader.need("=")
        return Claim(step, line, What.GAP, name, str(reader.integer()))
    if reader.take("prints "):
        return Claim(step, line, What.PRINTS, None, repr(reader.string()))
    for word, what in _VALUED.items():
        if reader.take(f"{word} "):
            return Claim(step, line, what, None, read_text(reader))
    raise reader.fail("expected what the step does")
