"""Blocks of events as columns in Arrow's layout, in C."""

def columns(
    block: bytes, start: int, /
) -> tuple[int, list[bytes], list[tuple[str, str]], list[tuple[bytes, bytes, bytes] | None]]: ...
