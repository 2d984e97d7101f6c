"""The page on scoring another retriever, run beside the wheels of groundkit-evals alone."""

import json
import re
from pathlib import Path

from tests.packaging.wheels.environments import CLOSURE, fresh, run

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "score-your-retriever.md"


def example() -> str:
    """The one Python example of the page."""
    (found,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    return str(found)


def test_the_example_scores_a_search_in_ten_lines_without_an_http_client(tmp_path: Path) -> None:
    scripts = fresh(tmp_path, CLOSURE["evals"])
    folder = tmp_path / "my-set"
    folder.mkdir()
    texts = {"d1": "the pump starts", "d2": "the valve opens"}
    queries = {"q1": "which pump", "q2": "which valve"}
    for name, held in (("corpus", texts), ("queries", queries)):
        lines = [json.dumps({"_id": id_, "text": text}) for id_, text in held.items()]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\n", "utf-8")

    code = f"{example()}\nimport importlib.util\nprint(importlib.util.find_spec('httpx'))\n"
    assert len([line for line in example().split("\n") if line]) <= 10
    # Without a gain before and one at rank 2: 1 / log2(3) = 0.631.
    assert run(scripts / "python", "-I", "-c", code, cwd=tmp_path).split("\n") == [
        "nDCG@10 0.815 -> 1.000",
        "+0.185, 95 % +0.000 to +0.369, 2 queries",
        "None",
        "",
    ]
