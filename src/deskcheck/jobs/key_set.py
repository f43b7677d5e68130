"""A set of 64-bit numbers that takes little memory, for recognising ids that came before.

A Python set takes about 70 bytes a number. This one takes 11 to 23, so a million numbers take some 16 MB.
"""

import hashlib
from array import array


def key_of(text: str) -> int:
    """64 bits of a text's hash. Two of a million texts collide with a chance of 3 in 100 million."""
    return int.from_bytes(
        hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big"
    )


class KeySet:
    """A set with open addressing in one array. 0 marks an empty slot; the key 0 is stored as 1."""

    def __init__(self) -> None:
        self._table = array("Q", bytes(8 * 64))
        self._mask = 63
        self._count = 0

    def add(self, key: int) -> bool:
        """Add a key (0 to 2**64 - 1). Return whether it is new."""
        table, mask = self._table, self._mask
        key = key or 1
        slot = key & mask
        while (occupant := table[slot]) != key:
            if not occupant:
                table[slot] = key
                self._count += 1
                if self._count * 10 > mask * 7:
                    self._grow()
                return True
            slot = (slot + 1) & mask
        return False

    def __len__(self) -> int:
        return self._count

    def _grow(self) -> None:
        old = self._table
        self._mask = mask = 2 * self._mask + 1
        self._table = table = array("Q", bytes(8 * (mask + 1)))
        for key in old:
            if key:
                slot = key & mask
                while table[slot]:
                    slot = (slot + 1) & mask
                table[slot] = key
