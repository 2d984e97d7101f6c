import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("packages/*/README.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_outside_the_site_lead_to_files(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8"))
    local = [link for link in links if not link.startswith(("http:", "https:"))]
    assert [link for link in local if not (page.parent / link).exists()] == []


def test_every_decision_is_in_the_index() -> None:
    folder = ROOT / "docs" / "explanation" / "decisions"
    index = (folder / "index.md").read_text(encoding="utf-8")
    pages = {path.name for path in folder.glob("*.md")} - {"index.md"}
    assert set(re.findall(r"\((.+?\.md)\)", index)) == pages


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs" / "explanation" / "decisions").glob("[!i]*.md"))
)
def test_a_decision_says_why_what_and_what_would_change_it(page: Path) -> None:
    said = re.findall(r"^\*\*(.+?)\.\*\*", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert said == ["Context", "Choice", "What would change it"]
