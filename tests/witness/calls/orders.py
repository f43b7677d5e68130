"""Orders of a small shop."""
from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum
from typing import Iterable, NamedTuple, Sequence


class Status(Enum):
    OPEN = "open"
    PAID = "paid"
    SENT = "sent"


class Line(NamedTuple):
    sku: str
    count: int
    price: Decimal


@dataclass
class Order:
    id: int
    lines: list[Line] = field(default_factory=list)
    status: Status = Status.OPEN
    notes: dict[str, str] = field(
        default_factory=dict,
    )

    @property
    def total(self) -> Decimal:
        return sum(
            (line.count * line.price for line in self.lines),
            start=Decimal(0),
        )

    def add(
        self,
        sku: str,
        count: int = 1,
        *,
        price: Decimal | None = None,
    ) -> Order:
        if count <= 0:
            raise ValueError(
                f"count must be positive, not {count}",
            )
        self.lines.append(
            Line(sku, count, price or Decimal("9.50")),
        )
        return self


def summary(
    orders: Iterable[tuple[str, int, str]],
    *,
    minimum: int = 0,
) -> dict[str, list[int]]:
    by_sku: defaultdict[str, list[int]] = defaultdict(list)
    for sku, count, status in orders:
        if (
            status == "open"
            and count >= minimum
        ) or sku.startswith(
            "x",
        ):
            by_sku[sku].append(count)
        elif status not in {
            "paid",
            "sent",
        }:
            continue
        else:
            by_sku.setdefault(
                sku.upper(),
                [],
            ).append(-count)
    return {
        sku: sorted(
            counts,
            reverse=True,
        )
        for sku, counts in sorted(
            by_sku.items(),
        )
    }


def words(
    text: str,
    stop: Sequence[str] = ("the", "a"),
) -> list[tuple[str, int]]:
    counts = Counter(
        word
        for word in re.findall(
            r"[a-z]+",
            text.lower(),
        )
        if word not in stop
    )
    most = [
        (word, n)
        for word, n in counts.most_common()
        if n > 1
    ]
    options = [
        "top",
        *[word for word, _ in most],
    ]
    settings = {
        "n": len(counts),
        **{
            word: n
            for word, n in most
        },
    }
    assert len(options) == len(
        settings,
    ), (
        options,
        settings,
    )
    return most or [
        (word, 1)
        for word in sorted(counts)[:2]
    ]


def due(
    start: str,
    days: list[int],
) -> list[str]:
    first = date.fromisoformat(start)
    found = []
    while days:
        day = first + timedelta(
            days=days.pop(),
        )
        if day.weekday() >= 5:
            day += timedelta(days=7 - day.weekday())
        found.append(
            day.isoformat(),
        )
    return found


def shop(plan: list[tuple[str, int]]) -> list[str]:
    order = Order(1)
    said = []
    for sku, count in plan:
        try:
            order.add(
                sku,
                count,
            ).add(sku, price=Decimal(count))
        except ValueError as error:
            said.append(
                str(error),
            )
        else:
            said.append(f"{sku}: {order.total:.2f}")
        finally:
            order.notes[sku] = (
                "many"
                if count > 2
                else "few"
            )
    return [
        *said,
        *(
            f"{name} {note}"
            for name, note in order.notes.items()
        ),
    ]


def grid(
    rows: int,
    columns: int,
    walls: set[tuple[int, int]] = frozenset(),
) -> int:
    paths = [
        [0] * columns
        for _ in range(rows)
    ]
    paths[0][0] = 1
    for r in range(rows):
        for c in range(columns):
            if (r, c) in walls:
                paths[r][c] = 0
            elif (
                r or c
            ):
                paths[r][c] = (
                    (paths[r - 1][c] if r else 0)
                    + (paths[r][c - 1] if c else 0)
                )
    return paths[-1][-1]
