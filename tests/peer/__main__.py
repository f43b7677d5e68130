"""Gives millions of hostile inputs to the decoder and counts them.

    python -m tests.peer [--inputs 10000000] [--seed 0] [--minutes 60]

Any exception but the decoder's own is shown with the seed that makes it again, and ends the run with status 1.
"""

import argparse
import random
import resource
import sys
import time
import traceback

from tests.peer.streams import block, blocks_of, one, recorded, suite_messages

_BATCH = 1000


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--inputs", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first batch of a thousand children")
    parser.add_argument("--minutes", type=float, default=60.0)
    given = parser.parse_args()
    streams, suite = recorded(), suite_messages()
    short = {
        kind: [stream for stream in found if sum(map(len, stream)) < 20_000] or found
        for kind, found in streams.items()
    }
    blocks = blocks_of(streams)
    began, shown = time.monotonic(), 0.0
    inputs, seed = 0, given.seed
    while inputs < given.inputs and time.monotonic() - began < 60 * given.minutes:
        draw = random.Random(seed)
        try:
            for number in range(_BATCH):
                if number % 2:
                    block(draw, blocks)
                    inputs += 1
                else:
                    inputs += one(draw, short, suite)
        except Exception:  # noqa: BLE001  # whichever it is, it is shown
            traceback.print_exc()
            print(f"wrong after {inputs} inputs: --seed {seed} --inputs 1", file=sys.stderr)
            return 1
        seed += 1
        if time.monotonic() - shown > 10:
            shown = time.monotonic()
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
            print(f"{inputs} inputs, {shown - began:.0f} s, peak {peak} MiB, seed {seed}", flush=True)
    print(f"{inputs} inputs of seeds {given.seed} to {seed - 1}: none raised a wrong exception")
    return 0


if __name__ == "__main__":
    sys.exit(main())
