import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.packaging.wheels.environments import CLOSURE, fresh, run


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where an installed `grk serve` answers."""
    home = tmp_path_factory.mktemp("served")
    scripts = fresh(home, CLOSURE["cli"], "[serve]")
    (home / "docs").mkdir()
    (home / "docs" / "valve.md").write_text("# Valve\n\nTurn it.\n", encoding="utf-8")
    run(scripts / "grk", "ingest", "docs", cwd=home)
    command = [str(scripts / "grk"), "serve", "--port", "0"]
    with subprocess.Popen(command, cwd=home, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        started = json.loads(process.stderr.readline())
        assert started["event"] == "started"
        yield started["url"]
        process.terminate()
        assert process.wait(10) == 0


def get(request: Request | str) -> str:
    with urlopen(request, timeout=10) as reply:
        text: str = reply.read().decode()
    return text


def test_a_wheel_with_the_extra_serves_a_search(url: str) -> None:
    headers = {"Content-Type": "application/json"}
    found = json.loads(get(Request(f"{url}/v1/search", b'{"query": "valve"}', headers)))
    assert [result["citation"]["source"] for result in found["results"]] == ["docs/valve.md"]
    assert found["results"][0]["verification"]["status"] == "verified"


def test_a_wheel_brings_the_page_and_all_that_it_loads(url: str) -> None:
    sources = Path(__file__).parents[3] / "packages/groundkit-cli/src/groundkit_cli/service/page"
    files = sorted(path for path in sources.iterdir() if path.name != "index.html")
    assert files
    assert get(f"{url}/") == (sources / "index.html").read_text(encoding="utf-8")
    for file in files:
        assert get(f"{url}/page/{file.name}") == file.read_text(encoding="utf-8")
