"""Text for assistants: bounded in tokens, and marked as data of a program that is not trusted."""

import re
import secrets
from collections.abc import Iterable

from deskcheck.notebook.state.views import estimate_tokens

_RESERVED = 60
"""Tokens for the marks and for the sentence about what was cut."""
_CONTROL = re.compile(
    r"[^\n\t\x20-\x7e\xa0-\U0010ffff]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Characters that change how a terminal or a person reads other text."""


def bounded(lines: Iterable[str], tokens: int, narrower: str) -> str:
    """The first lines that fit into a number of tokens, and how many were cut.

    tokens: estimated (`estimate_tokens`). narrower: what to ask for to see the rest.
    """
    remaining = max(tokens - _RESERVED, 20)
    kept_lines: list[str] = []
    queue = [line for text in lines for line in text.split("\n")]
    while queue and remaining > 0:
        cost = estimate_tokens(queue[0]) + 1
        if cost > remaining:
            break
        remaining -= cost
        kept_lines.append(queue.pop(0))
    if queue and not kept_lines:
        line = queue.pop(0)
        size = len(line) * remaining // (estimate_tokens(line) + 1)
        kept_lines.append(f"{line[:size]} (cut: {len(line) - size:,} characters)")
    if queue:
        more = sum(estimate_tokens(line) + 1 for line in queue)
        kept_lines.append(f"(cut: {len(queue):,} lines, about {more:,} tokens. {narrower})")
    return "\n".join(kept_lines)


def marked(text: str) -> str:
    """A text between two marks that its author cannot know, with control characters escaped."""
    mark = secrets.token_hex(3)
    printable = _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)
    return f"<untrusted {mark}>\n{printable}\n</untrusted {mark}>"
