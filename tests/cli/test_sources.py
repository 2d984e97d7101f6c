"""`grk ingest` of URLs, JSON lines and web pages, from a real server on this machine."""

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.cli.shell import Shell


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """The address of a server of the folder `site`."""
    (tmp_path / "site").mkdir()
    handler = partial(Quiet, directory=str(tmp_path / "site"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


ALLOWED = ("--allow-host", "127.0.0.1")


def test_a_url_is_ingested_searched_and_verified_without_its_server(grk: Shell, site: str) -> None:
    grk.write("site/hoses.md", "# Hoses\n\nSeven bar at most.\n")
    ran = grk("ingest", f"{site}/hoses.md", *ALLOWED)
    assert ran.lines[0].startswith("1 indexed · ")
    (grk.folder / "site/hoses.md").unlink()
    assert grk("ingest", f"{site}/hoses.md", *ALLOWED, code=1).lines[2] == (
        f"refused {site}/hoses.md: it answered 404"
    )
    result = grk("search", "hoses", "--json").json["results"][0]
    assert (result["citation"]["source"], result["link"]) == (f"{site}/hoses.md",) * 2
    assert result["verification"]["status"] == "verified"
    assert grk("verify").out == "1 verified · 0 moved · 0 drifted · 0 unresolvable\n"


def test_an_address_that_is_not_public_needs_permission(grk: Shell, site: str) -> None:
    ran = grk("ingest", f"{site}/x.md", code=1)
    assert ran.lines[2] == (
        f"refused {site}/x.md: it is a loopback address; --allow-host 127.0.0.1 permits it"
    )


def test_a_list_of_urls_and_a_folder_are_one_run(grk: Shell, site: str) -> None:
    for n in range(20):
        grk.write(f"site/{n}.txt", f"Page number {n} of the site.\n")
    urls = "".join(f"{site}/{n}.txt\n" for n in range(21))
    grk.write("urls.txt", f"# pages\n{urls}\n{site}/0.txt\n")
    report = grk("ingest", "docs", "--url-list", "urls.txt", *ALLOWED, "--json", code=1).json
    by_status: dict[str, int] = {}
    for outcome in report["files"]:
        by_status[outcome["status"]] = by_status.get(outcome["status"], 0) + 1
    assert by_status == {"indexed": 22, "refused": 1}
    assert (report["documents"], report["read"]) == (22, 22)
    assert report["added"] == report["chunks"] == 23
    again = grk("ingest", "docs", "--url-list", "urls.txt", *ALLOWED, "--json", code=1).json
    assert (again["unchanged"], again["added"]) == (22, 0)


def test_what_is_said_of_the_collection_is_said_once(grk: Shell, site: str) -> None:
    pytest.importorskip("faiss")
    grk("ingest", "docs", "--dense", "--embed-provider", "inmemory")
    for n in range(20):
        grk.write(f"site/{n}.txt", f"Page number {n} of the site.\n")
    grk.write("site/latin.txt", b"Caf\xe9 costs 5 \x80\n")
    names = ["latin", *map(str, range(20))]
    grk.write("urls.txt", "".join(f"{site}/{name}.txt\n" for name in names))
    report = grk("ingest", "--url-list", "urls.txt", *ALLOWED, "--json").json
    assert report["warnings"] == [
        "21 passages have no vector; --dense makes them",
        f"{site}/latin.txt: encoding guessed: cp1252",
    ]


def test_json_lines_become_documents_with_metadata(grk: Shell) -> None:
    rows = [{"id": n, "body": f"Kite number {n}.", "year": 2000 + n, "name": "K"} for n in range(3)]
    grk.write("docs/kites.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    fields = ("--jsonl-text", "body", "--jsonl-id", "id", "--jsonl-meta", "year")
    assert grk("ingest", "docs", *fields).lines[1].startswith("passages: 6 added")
    found = grk("search", "kite", "--where", "year>=2001", "--json").json["results"]
    assert {result["citation"]["source"] for result in found} == {
        "docs/kites.jsonl#1",
        "docs/kites.jsonl#2",
    }
    assert grk("verify").out == "6 verified · 0 moved · 0 drifted · 0 unresolvable\n"
    # The fields are the collection's from then on, and one may be changed by itself.
    assert grk("ingest", "docs").lines[0].startswith("0 indexed · 3 unchanged · 0 changed")
    grk("ingest", "docs", "--jsonl-title", "name")
    shown = grk("collections", "show", "--json").json["extraction"]
    assert shown == {
        "html": "main",
        "jsonl_text": "body",
        "jsonl_id": "id",
        "jsonl_title": "name",
        "jsonl_metadata": ["year"],
    }


def test_a_pages_main_content_or_all_of_it_is_taken(grk: Shell) -> None:
    pytest.importorskip("selectolax")
    page = "<nav>Imprint</nav><main><h1>Pumps</h1><p>Open the valve.</p></main>"
    grk.write("docs/page.html", page)
    grk("ingest", "docs")
    assert grk("search", "imprint").out == ""
    assert grk("search", "pumps").lines[0].startswith("1. docs/page.html  Pumps  [verified, ")
    assert (
        grk("ingest", "docs", "--html", "full").lines[0].startswith("0 indexed · 2 unchanged · 1")
    )
    assert grk("search", "imprint").lines[1] == "   Imprint"
    assert grk("verify").lines[0].startswith("5 verified · 0 moved")
