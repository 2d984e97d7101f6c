import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def bench(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


def test_startup_times_each_command_beside_its_peer(tmp_path: Path) -> None:
    done = bench("startup", "--quick", "--json", tmp_path / "figures.json")
    assert (done.returncode, done.stderr) == (0, "")
    figures = json.loads((tmp_path / "figures.json").read_text("utf-8"))
    assert [
        [row["command"].split()[0] for row in table["rows"]] for table in figures["tables"]
    ] == [
        ["grk", "empty"],
        ["grk", "python"],
    ]
    for table, target in zip(figures["tables"], figures["targets"], strict=True):
        ours, peer = table["rows"]
        assert ours["ratio"] == ours["median"] / peer["median"] == target["value"]
        assert target["what"] in done.stdout


def test_quality_measures_one_set(tmp_path: Path) -> None:
    if not (ROOT.parent / "shared" / "data" / "covid_faq_en").is_dir():
        pytest.skip("../shared is not here: the labelled sets cannot be measured")
    done = bench("quality", "--set", "covid_faq_en", "--json", tmp_path / "figures.json")
    assert done.returncode == 0
    (table,) = json.loads((tmp_path / "figures.json").read_text("utf-8"))["tables"]
    (row,) = table["rows"]
    assert (row["set"], row["documents"], row["queries"]) == ("covid_faq_en", 92, 240)
    assert 0.7 < row["nDCG@10"] < 1
    assert 0.7 < row["bm25s nDCG@10"] < 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nope"], 2, "invalid choice: 'nope'"),
        (["startup", "--set", "scifact"], 2, "unrecognized arguments: --set scifact"),
        (["quality", "--set", "nope"], 1, "no set is called 'nope'"),
    ],
)
def test_what_cannot_run_is_an_error(arguments: list[str], code: int, message: str) -> None:
    done = bench(*arguments)
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr
