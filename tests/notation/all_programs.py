"""Does every notation give every state back, for all of the published sets and thousands of generated programs?

    python -m tests.notation.all_programs cruxeval mbpp humaneval
    python -m tests.notation.all_programs generated --count 10000 --seed 0 --events 120
    python -m tests.notation.all_programs cruxeval --granularity instruction --events 300

Each program is traced natively in a process of its own. For every notation of the level the text is parsed and must
tell what the notation keeps; and the texts of `dynamic` that are kept up event by event must be those written from
nothing. Of the published sets, compact traces are measured too: how many fit 2,000 tokens, a token counted as three
characters. What differs is printed, and the exit status is 1.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence

from deskcheck.notation import NOTATIONS, moments
from deskcheck.recording import Program, Trace
from deskcheck.tracer import Granularity, TraceLimits
from tests.notation.states import BY_LINE, differs, kept_up
from tests.tracer.agree import Runner, Setting, generated, published

TOKENS, CHARS_A_TOKEN = 2_000, 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what differs, and a line for each source."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sources", nargs="+", choices=["cruxeval", "mbpp", "humaneval", "generated"])
    parser.add_argument("--count", type=int, default=10_000, help="generated programs")
    parser.add_argument("--seed", type=int, default=0, help="of the generated programs")
    parser.add_argument("--events", type=int, default=2_000, help="recorded of each program")
    parser.add_argument(
        "--granularity", type=Granularity, choices=list(Granularity), default=Granularity.LINE
    )
    given = parser.parse_args(arguments)
    setting = Setting(limits=TraceLimits(events=given.events), granularity=given.granularity)
    wrong = 0
    with Runner("native", setting) as runner:
        for source in given.sources:
            began = time.monotonic()
            programs = generated(given.count, given.seed) if source == "generated" else published(source)
            count = events = cut = fit = whole = 0
            for program in programs:
                trace = Trace(runner.run(program).threads.get(0, []))
                count += 1
                events += len(trace)
                for text in _differences(program, trace, given.granularity):
                    wrong += 1
                    print(f"{program.id}: {text}", flush=True)
                if len(trace) >= given.events:
                    cut += 1
                elif given.granularity is Granularity.LINE:
                    whole += 1
                    compact = NOTATIONS["compact"].write(moments(trace, file=program.filename), program.code)
                    fit += len(compact) <= TOKENS * CHARS_A_TOKEN
                if count % 1000 == 0:
                    print(f"... {count} of {source}, {wrong} differ", file=sys.stderr, flush=True)
            print(
                f"{source}: {count} programs, {events} events, {cut} cut after {given.events}; {wrong} differ so far; "
                f"{time.monotonic() - began:.0f} s"
            )
            if whole and source != "generated":
                # Of all: those that are cut count as not fitting, whatever they would have come to.
                print(
                    f"{source}: compact fits {TOKENS} tokens: {fit} of {count} "
                    f"({fit / count:.2%}; of those not cut {fit / whole:.2%})",
                    flush=True,
                )
    return 1 if wrong else 0


def _differences(program: Program, trace: Trace, granularity: Granularity) -> Iterator[str]:
    instructions = granularity is Granularity.INSTRUCTION
    states = list(moments(trace, file=program.filename, instructions=instructions))
    for name in ["dynamic_instruction"] if instructions else BY_LINE:
        if text := differs(name, states, program.code):
            yield text
    if text := kept_up(trace.rows, program.filename, instructions=instructions):
        yield text


if __name__ == "__main__":
    sys.exit(main())
