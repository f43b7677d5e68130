"""What the tracers are called, in one place: for those who run them and for those who only count."""

BLOCKS, PARQUET, REFERENCE = "deskcheck, blocks", "deskcheck, Parquet", "deskcheck reference"
BLOCKS_I, PARQUET_I = f"{BLOCKS}, instructions", f"{PARQUET}, instructions"
ET, PYSNOOPER, HUNTER, VIZTRACER = "E.T.-style", "PySnooper", "hunter", "viztracer"

LINES = (BLOCKS, PARQUET, REFERENCE, ET, PYSNOOPER, HUNTER, VIZTRACER)
INSTRUCTIONS = (BLOCKS_I, PARQUET_I)
OURS = (BLOCKS, PARQUET, *INSTRUCTIONS)
"""Those that others are divided by; the native tracer where it is built."""
PEERS = (ET, PYSNOOPER, HUNTER, VIZTRACER)
FAST = (BLOCKS, PARQUET, *INSTRUCTIONS)
"""Measured at the large size too, where they are the native tracer."""
SLOW, SLOW_REPS = (REFERENCE, PYSNOOPER, HUNTER), 2
"""A measurement of these can take half a minute: so many processes are enough."""
COUNTED = (PARQUET, PARQUET_I, REFERENCE, ET)
"""Those that say of what kind each event is, so that line events can be counted in what they wrote."""
INSTALL = {
    PYSNOOPER: "pip install 'PySnooper>=1.2'",
    HUNTER: "pip install 'hunter>=3.9'",
    VIZTRACER: "pip install 'viztracer>=1.1'",
}

MEAN = "geometric mean"
