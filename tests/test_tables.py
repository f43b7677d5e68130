"""Tables on a terminal: whatever its width, every name is there whole."""

import io

import pytest
from rich.console import Console

from deskcheck.cli.common.tables import print_table

NAMES = ("question", "model", "method")
NUMBERS = ("n", "score", "95 % interval", "cut", "refused")
ROWS = [
    (("output", "openai/gpt-4o-mini", "direct"), ["22", "1.000", "0.851 to 1.000", "0", "1"]),
    (
        ("next_line", "together/deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", "dynamic_scratchpad"),
        ["81", "0.025", "0.006 to 0.092", "0", "0"],
    ),
]


def printed(width: int) -> list[str]:
    file = io.StringIO()
    print_table(
        Console(file=file, width=width), NAMES, NUMBERS, ROWS, title="scores", optional=("cut", "refused")
    )
    return file.getvalue().splitlines()


@pytest.mark.parametrize("width", [50, 80, 200])
def test_no_name_and_no_number_is_cut(width: int) -> None:
    """Each stands on one line, with those of its row, or with the number that leads to it."""
    lines = printed(width)
    for names, numbers in ROWS:
        assert any(all(name in line for name in names) for line in lines)
        assert any(all(number in line for number in numbers if number != "0") for line in lines)


def test_where_there_is_room_a_row_is_a_line() -> None:
    """At 200 columns names and numbers stand side by side."""
    assert any("DeepSeek" in line and "0.006 to 0.092" in line for line in printed(200))
    assert not any("DeepSeek" in line and "0.006 to 0.092" in line for line in printed(80))


def test_a_column_of_zeros_is_left_out() -> None:
    """Of those that may be; one that has another number anywhere is shown."""
    (head,) = [line for line in printed(200) if "score" in line and "model" in line]
    assert "refused" in head
    assert "cut" not in head


def test_what_would_command_the_terminal_is_written_out() -> None:
    """Markup and control characters in the name of a model are text, in both forms."""
    for width in (40, 200):
        file = io.StringIO()
        rows = [(("[red]a[/red]\x1b[2J" + "x" * 60,), ["1"])]
        print_table(Console(file=file, width=width), ("model",), ("n",), rows)
        assert "[red]a[/red]" in file.getvalue()
        assert "\x1b" not in file.getvalue()
