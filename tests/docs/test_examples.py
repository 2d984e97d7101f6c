import re
from pathlib import Path

import pytest

from scripts.examples import HOME, ROOT, ExampleError, pages, refreshed

pytestmark = pytest.mark.usefixtures("unmeasured")

REFRESH = "run: hatch run python -m scripts.refresh_docs"
PAGES = [
    page for page in pages() if re.search("^```(console|python)$", page.read_text("utf-8"), re.M)
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_shows_what_its_examples_print(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert refreshed(page, text) == text, REFRESH


def test_the_readme_has_examples_at_a_terminal_and_in_python() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    languages = re.findall("^```(console|python)$", text, re.MULTILINE)
    assert languages == ["console", "python", "python"]


def test_output_that_is_not_what_a_command_prints_is_replaced() -> None:
    page = '```text title="a.txt"\nhello\n```\n\n```console\n$ cat a.txt; pwd; false\nlies\n'
    page += "$ echo $?\n```\n"
    assert refreshed(ROOT / "README.md", page) == page.replace(
        "lies\n$ echo $?\n", f"hello\n{HOME}\n$ echo $?\n1\n"
    )


def test_output_that_is_not_what_python_prints_is_replaced() -> None:
    page = "```python\nprint(6 * 7)\n```\n\n```text\n41\n```\n\n```text\nno output\n```\n"
    assert refreshed(ROOT / "README.md", page) == page.replace("41", "42")


def test_a_python_example_that_fails_is_an_error() -> None:
    with pytest.raises(ExampleError, match="ZeroDivisionError"):
        refreshed(ROOT / "README.md", "```python\n1 / 0\n```\n")
