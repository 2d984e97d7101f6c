"""The page on scoring another retriever, run beside the wheels of groundkit-evals alone."""

import re
from pathlib import Path

from tests.packaging.wheels.environments import CLOSURE, fresh, run

FILES = [("json", "corpus.jsonl"), ("json", "queries.jsonl"), ("text", "qrels.tsv")]
PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "score-your-retriever.md"


def blocks(language: str, title: str = "") -> list[str]:
    """The bodies of the page's blocks in a language, with a title or without."""
    head = rf"```{language}" + (rf' title="{re.escape(title)}"' if title else "") + r"\n"
    return re.findall(head + r"(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


def test_the_example_scores_a_search_in_ten_lines_without_an_http_client(tmp_path: Path) -> None:
    scripts = fresh(tmp_path, CLOSURE["evals"])
    (tmp_path / "my-set").mkdir()
    for language, name in FILES:
        (body,) = blocks(language, f"my-set/{name}")
        (tmp_path / "my-set" / name).write_text(body, "utf-8")
    (example,), (printed,) = blocks("python"), blocks("text")
    assert len([line for line in example.split("\n") if line]) <= 10
    code = f"{example}\nimport importlib.util\nprint(importlib.util.find_spec('httpx'))\n"
    assert run(scripts / "python", "-I", "-c", code, cwd=tmp_path) == f"{printed}None\n"
