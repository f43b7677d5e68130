import contextlib
import functools
import itertools
import heapq
from collections import deque
from typing import Any, Callable, Iterator, TypeVar

T = TypeVar("T")


class Retry(Exception):
    """Raised when the work should be tried again."""

    def __init__(self, times: int) -> None:
        super().__init__(times)
        self.times = times

    def __str__(self) -> str:
        return f"gave up after {self.times} time{'s' * (self.times != 1)}"


def retried(
    times: int,
    *errors: type[Exception],
) -> Callable[[Callable[..., T]], Callable[..., T]]:
    def decorate(function: Callable[..., T]) -> Callable[..., T]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> T:
            for attempt in range(times):
                with contextlib.suppress(*errors):
                    return function(
                        *args,
                        attempt=attempt,
                        **kwargs,
                    )
            raise Retry(times)

        return wrapper

    return decorate


@retried(
    3,
    ZeroDivisionError,
    KeyError,
)
def ratio(
    a: int,
    b: int,
    *,
    attempt: int = 0,
) -> float:
    return a / (
        b + attempt
    )


@retried(2, ValueError)
def parsed(text: str, *, attempt: int = 0) -> int:
    return int(
        text,
    )


def batched(items: list[T], size: int) -> Iterator[list[T]]:
    it = iter(items)
    while batch := list(
        itertools.islice(it, size),
    ):
        yield batch


def chunks(items: list[int], size: int) -> list[int]:
    result = []
    for batch in batched(
        items,
        size,
    ):
        result.append(
            max(
                batch,
                key=lambda x: (
                    x % 10,
                    -x,
                ),
            )
        )
    return result


def shortest(
    graph: dict[str, dict[str, int]],
    start: str,
    goal: str,
) -> tuple[int, list[str]] | None:
    queue: list[tuple[int, str, list[str]]] = [
        (0, start, [start]),
    ]
    seen: set[str] = set()
    while queue:
        cost, node, path = heapq.heappop(queue)
        if node == goal:
            return (
                cost,
                path,
            )
        if node in seen:
            continue
        seen.add(node)
        for other, weight in graph.get(
            node, {}
        ).items():
            if other not in seen:
                heapq.heappush(
                    queue,
                    (
                        cost + weight,
                        other,
                        [*path, other],
                    ),
                )
    return None


def balanced(text: str) -> bool:
    pairs = {
        ")": "(",
        "]": "[",
        "}": "{",
    }
    stack: deque[str] = deque()
    for char in text:
        match char:
            case "(" | "[" | "{":
                stack.append(char)
            case ")" | "]" | "}" if (
                stack
                and stack[-1] == pairs[char]
            ):
                stack.pop()
            case ")" | "]" | "}":
                return False
            case _:
                pass
    return not stack


def merged(
    *ranges: tuple[int, int],
) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for low, high in sorted(
        ranges,
    ):
        if out and low <= out[-1][1]:
            last = out.pop()
            out.append(
                (last[0], max(last[1], high))
            )
        else:
            out.append((low, high))
    return out


def rpn(tokens: str) -> float:
    stack: list[float] = []
    ops: dict[str, Callable[[float, float], float]] = {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "/": lambda a, b: a / b,
    }
    for token in tokens.split():
        if token in ops:
            b, a = stack.pop(), stack.pop()
            stack.append(
                ops[token](
                    a,
                    b,
                )
            )
        else:
            stack.append(
                float(token)
            )
    (result,) = stack
    return result


def memo(n: int) -> int:
    @functools.lru_cache(
        maxsize=None,
    )
    def fib(k: int) -> int:
        return (
            k
            if k < 2
            else fib(k - 1) + fib(k - 2)
        )

    return fib(
        n,
    )
