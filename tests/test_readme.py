"""What the README shows is what happens."""

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_ten_lines_print_what_the_readme_says(tmp_path: Path) -> None:
    """The example in the README, run as a file, prints exactly the output that is shown under it."""
    text = README.read_text()
    match = re.search(r"```python\n(.*?)```.*?```\n(.*?)```", text, re.DOTALL)
    assert match is not None
    code, shown = match.groups()
    (tmp_path / "example.py").write_text(code)
    ran = subprocess.run(
        [sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ran.stdout == shown


def test_every_linked_file_exists() -> None:
    """No link of the README leads nowhere."""
    targets = re.findall(r"\]\(([^)]+)\)", README.read_text())
    missing = [t for t in targets if not t.startswith("http") and not (README.parent / t).exists()]
    assert not missing
