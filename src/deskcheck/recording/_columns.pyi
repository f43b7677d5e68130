"""Blocks of events as columns in Arrow's layout, in C."""

def columns(
    parts: list[tuple[str, bytes]], /
) -> tuple[
    int,
    list[bytes],
    dict[str, int],
    dict[bytes, int],
    dict[bytes, int],
    list[tuple[bytes, bytes, bytes] | None],
]: ...
def counts(block: bytes, /) -> tuple[int, int, int, int]: ...
