"""The search page of a real `grk serve`, used as a person uses it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from groundkit_core.contracts import Document
from groundkit_core.index.collection import Collection
from playwright.sync_api import Browser, Route, expect

from tests.cli.shell import Shell
from tests.core.loading import pdf_files
from tests.e2e.browsing import Visit, chromium, visiting
from tests.e2e.serving import Served, serving

pytestmark = pytest.mark.e2e

AS_INDEXED = " The text below is as it was indexed."
TOKEN = "a-token-of-more-than-sixteen-characters"
LONG = "# The long one\n\n" + "\n".join(
    f"## Part {n}\n\n" + " ".join(f"Sentence {m} of part {n} tells of lorry{n}." for m in range(12))
    + "\n" for n in range(40)
)  # fmt: skip
ODD = (
    "# Odd signs\n\n\U0001d11e \U0001f468\u200d\U0001f469\u200d\U0001f467 e\u0301 zebra "
    "<b>zebra</b> <img src=x onerror=alert(1)> \x1b zebra \u05e9\u05dc\u05d5\u05dd zebra\n"
)
WIDE = "# " + "W" * 200 + "\n\nyak " + "y" * 400 + "\n\n" + "| yak " * 60 + "\n"
HUGE = "emu " * 5_000
NEAR = "\n".join(f"# Otter {n}\n\nThe otter number {n} swims.\n" for n in range(30))


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A folder with two collections; some sources were edited after they were indexed."""
    shell = Shell(tmp_path_factory.mktemp("page"))
    for name, text in {
        "long.md": LONG,
        "odd.md": ODD,
        f"{'w' * 100}.md": WIDE,
        "otters.md": NEAR,
        "copy1.md": "# Gnu\n\nA gnu that stands in two files.\n",
        "copy2.md": "# Gnu\n\nA gnu that stands in two files.\n",
        "moved.md": "# Quokka\n\nThe quokka smiles.\n",
        "drifted.md": "# Wombat\n\nThe wombat digs at night.\n",
        "gone.md": "# Numbat\n\nThe numbat eats termites.\n",
    }.items():
        shell.write(f"docs/{name}", text)
    small = ("--chunk-unit", "characters", "--chunk-size", "400")
    shell("ingest", "docs", *small)
    overlapping = ("--chunking", "fixed", "--chunk-overlap", "80")
    shell("ingest", "docs/long.md", "--collection", "fixed", *small, *overlapping)
    shell.write("docs/moved.md", "One line.\n\nAnother.\n\n# Quokka\n\nThe quokka smiles.\n")
    shell.write("docs/drifted.md", "# Wombat\n\nThe wombat digs all day.\n")
    (shell.folder / "docs/gone.md").unlink()
    shell.write("other/ibis.md", "# Ibis\n\nThe ibis wades.\n")
    dense = ("--dense", "--embed-provider", "inmemory")
    shell("ingest", "other", "--collection", "other", *dense)
    pages = [pdf_files.lines([f"On page {n} a heron{n} stands."] * 10) for n in (1, 2, 3)]
    shell.write("paper/birds.pdf", pdf_files.pdf(pages, title="Birds"))
    shell("ingest", "paper", "--collection", "paper", *small)
    with Collection.open(shell.folder / ".groundkit" / "web") as web:
        web.add([Document.from_text("https://example.org/a", "A crane flies.")])
    shell.write("huge/emu.txt", HUGE)
    shell("ingest", "huge", "--collection", "huge", "--chunk-size", "5000")
    return shell


@pytest.fixture(scope="module")
def served(shell: Shell) -> Iterator[Served]:
    with serving(shell) as served:
        yield served


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def visit(browser: Browser, served: Served) -> Iterator[Visit]:
    with visiting(browser, served.url) as visit:
        yield visit


def found(served: Served, query: str) -> list[dict[str, Any]]:
    """What the service itself finds."""
    reply = served.post("/v1/search", json.dumps({"query": query, "highlight": True}).encode())
    results: list[dict[str, Any]] = reply.json["results"]
    return results


def marks(result: dict[str, Any]) -> list[str]:
    """The words that the service marks in a result."""
    return [result["content"][start:end] for start, end in result["highlights"]]


def test_by_keyboard_alone_a_passage_is_found_opened_at_its_span_and_closed(
    visit: Visit, served: Served
) -> None:
    page = visit.page
    visit.go()
    page.keyboard.press("Tab")
    page.keyboard.press("/")
    expect(page.locator("#query")).to_be_focused()
    page.keyboard.type("lorry17")
    page.keyboard.press("Enter")
    first = page.locator("#results > li").first
    expect(first.locator("mark")).to_have_text(marks(found(served, "lorry17")[0]))
    expect(first.locator(".badge")).to_have_text("✓ verified")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    cited = page.locator("#cited")
    expect(cited).to_have_text(found(served, "lorry17")[0]["content"])
    expect(cited).to_be_in_viewport()
    expect(page.locator("#document-verdict")).to_have_text(
        "✓ verified The cited text stands at its span."
    )
    expect(page.get_by_role("dialog", name="The long one")).to_be_visible()
    expect(page.get_by_role("region", name="Text of the document")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#document")).to_be_hidden()
    expect(first.locator("a")).to_be_focused()


def test_text_is_shown_as_it_is_whatever_its_signs(visit: Visit, served: Served) -> None:
    visit.go("#q=zebra")
    result = found(served, "zebra")[0]
    expect(visit.page.locator("#results mark")).to_have_text(["zebra"] * 4)
    assert visit.texts("#results .passage") == [result["content"].replace("\x1b", "\u241b")]
    assert visit.page.query_selector_all("img, b") == []
    visit.page.click("#results .passage")
    expect(visit.page.locator("#cited mark")).to_have_text(["zebra"] * 4)


def test_a_long_passage_is_cut_around_its_marked_words(visit: Visit, served: Served) -> None:
    served_text = found(served, "yak")[0]["content"]
    visit.go("#q=yak")
    shown = visit.texts("#results .passage")[0]
    assert shown.strip("… \u00a0") in served_text
    assert len(shown) <= 600


@pytest.mark.parametrize(
    ("query", "badge", "place", "text"),
    [
        ("quokka", "→ moved", "docs/moved.md:5–7", ""),
        ("wombat", "! drifted", "docs/drifted.md:1–3", AS_INDEXED),
        ("numbat", "✕ unresolvable", "docs/gone.md:1–3", AS_INDEXED),
    ],
)
def test_a_source_edited_since_is_told_with_the_reason(
    visit: Visit, served: Served, query: str, badge: str, place: str, text: str
) -> None:
    reason = found(served, query)[0]["verification"]["reason"]
    visit.go(f"#q={query}")
    page = visit.page
    expect(page.locator("#results .badge")).to_have_text(badge)
    expect(page.locator("#results .place")).to_have_text(place)
    page.click("#results li a")
    expect(page.locator("#document-verdict")).to_have_text(
        f"{badge} {reason[0].upper()}{reason[1:]}.{text}"
    )
    expect(page.locator("#document-place")).to_have_text(place)


@pytest.mark.parametrize(
    ("collection", "most_bytes", "shared"),
    [("default", 100_000, False), ("fixed", 100_000, True), ("fixed", 10_000, True)],
)
def test_more_and_more_text_gives_the_whole_document_once(
    browser: Browser, shell: Shell, collection: str, most_bytes: int, shared: bool
) -> None:
    options = ("--collection", collection, "--max-response-bytes", str(most_bytes))
    with serving(shell, *options) as served, visiting(browser, served.url) as visit:
        cited = found(served, "lorry17")[0]["citation"]
        body = {"chunk_id": cited["chunk_id"], "before": 1}
        window = served.post("/v1/fetch_chunk", json.dumps(body).encode()).json
        assert (window["passages"][0]["citation"]["end"] > cited["start"]) is shared
        visit.go("#q=lorry17")
        page = visit.page
        page.click("#results li a")
        expect(page.locator("#cited")).to_be_in_viewport()
        for name in ("#earlier", "#later"):
            pressed = 0
            while page.locator(name).is_visible():
                with page.expect_response("**/v1/fetch_chunk"):
                    page.press(name, "Enter")
                expect(page.locator(f"{name}[aria-disabled]")).to_have_count(0)
                pressed += 1
            assert pressed > 1
        assert visit.texts("#text")[0].split() == LONG.split()
        expect(page.locator("#scroll")).to_be_focused()


def test_a_passage_longer_than_a_response_is_shown_as_far_as_it_goes(
    browser: Browser, shell: Shell
) -> None:
    limit = ("--max-response-bytes", "10000", "--collection", "huge")
    with serving(shell, *limit) as served, visiting(browser, served.url) as visit:
        visit.go("#q=emu")
        visit.page.click("#results li a")
        note = " [The rest of this passage is too long to be sent.]"
        expect(visit.page.locator("#cited .cut")).to_have_text(note)
        start = visit.texts("#cited")[0].removesuffix(note)
        assert HUGE.startswith(start)
        assert len(start) > 1_000


def test_earlier_text_leaves_what_is_read_where_it_is(visit: Visit) -> None:
    visit.go("#q=lorry17")
    page = visit.page
    page.click("#results li a")
    expect(page.locator("#cited")).to_be_in_viewport()
    page.locator("#earlier").focus()
    before = page.locator("#cited").bounding_box()
    page.keyboard.press("Enter")
    expect(page.locator("#document-status")).to_contain_text("loaded")
    assert page.locator("#cited").bounding_box() == before


def test_a_page_is_told_where_there_are_pages(visit: Visit) -> None:
    visit.go("#q=heron2&collection=paper")
    page = visit.page
    expect(page.locator("#results .place").first).to_have_text("paper/birds.pdf p.2")
    page.click("#results li a")
    expect(page.locator("#document-title")).to_have_text("Birds")
    expect(page.locator("#document-place")).to_have_text("paper/birds.pdf p.2")
    expect(page.locator(".page")).to_have_count(2)
    named = page.locator(".page").evaluate_all("all => all.map((one) => one.dataset.page)")
    assert named == ["page 2", "page 3"]


def test_a_source_on_the_web_can_be_opened(visit: Visit) -> None:
    visit.go("#q=crane&collection=web")
    page = visit.page
    page.click("#results li a")
    link = page.get_by_role("link", name="Open the source")
    expect(link).to_have_attribute("href", "https://example.org/a")
    expect(link).to_have_attribute("rel", "noopener noreferrer")


def test_more_results_come_until_there_are_no_more(visit: Visit) -> None:
    visit.go("#q=otter")
    items = visit.page.locator("#results > li")
    expect(items).to_have_count(10)
    visit.page.press("#more", "Enter")
    expect(items).to_have_count(30)
    expect(items.nth(10).locator("a")).to_be_focused()
    expect(visit.page.locator("#more")).to_be_hidden()
    expect(visit.page.locator("#status")).to_have_text("30 results")


def test_a_server_that_gives_fewer_results_is_content_with_those(
    browser: Browser, shell: Shell
) -> None:
    with serving(shell, "--max-top-k", "20") as served, visiting(browser, served.url) as visit:
        visit.go("#q=otter")
        visit.page.click("#more")
        expect(visit.page.locator("#more")).to_be_hidden()
        expect(visit.page.locator("#status")).to_have_text("10 results")
        expect(visit.page.locator("#more-error")).to_be_empty()
        visit.expected.add("422")


def test_results_that_fill_a_response_go_on_by_its_cursor(browser: Browser, shell: Shell) -> None:
    with (
        serving(shell, "--max-response-bytes", "10000") as served,
        visiting(browser, served.url) as visit,
    ):
        page = visit.page
        visit.go("#q=otter")
        while page.locator("#more").is_visible():
            shown = len(visit.texts("#results .place"))
            with page.expect_response("**/v1/search"):
                page.press("#more", "Enter")
            page.wait_for_selector("#results:not([aria-busy])", state="attached")
            assert len(visit.texts("#results .place")) > shown
        places = visit.texts("#results .place")
        assert len(places) == len(set(places)) == 30
        assert visit.count("/v1/search") > 5


def test_copies_are_counted_and_open(visit: Visit, served: Served) -> None:
    visit.go("#q=gnu")
    page = visit.page
    expect(page.locator("summary")).to_have_text("The same text stands at 1 place more")
    page.press("summary", "Enter")
    page.press("#results details a", "Enter")
    expect(page.locator("#document-place")).to_have_text(
        f"{found(served, 'gnu')[0]['copies'][0]['source']}:1–3"
    )


def test_a_query_that_finds_nothing_says_so(visit: Visit) -> None:
    visit.go("#q=xyzzy")
    expect(visit.page.locator("#status")).to_have_text(
        "Nothing found: no passage holds a word of the query."
    )


def test_the_same_query_is_searched_again_when_it_is_asked_again(visit: Visit) -> None:
    visit.go("#q=gnu")
    visit.search("gnu")
    assert visit.count("/v1/search") == 2
    assert visit.page.evaluate("history.length") == 2


def test_a_collection_and_a_way_to_search_can_be_chosen(visit: Visit) -> None:
    visit.go("#q=ibis")
    page = visit.page
    expect(page.locator("#modes")).to_be_hidden()
    page.select_option("#collection", "other")
    expect(page.locator("#results .place")).to_have_text("other/ibis.md:1–3")
    expect(page.locator("#mode option")).to_have_text(["words", "meaning", "words and meaning"])
    page.select_option("#mode", "dense")
    expect(page.locator("#results .place")).to_have_text("other/ibis.md:1–3")
    assert page.url == f"{visit.url}/#q=ibis&collection=other&mode=dense"
    page.select_option("#collection", "default")
    expect(page.locator("#results > li")).to_have_count(0)
    expect(page.locator("#modes")).to_be_hidden()


def test_an_address_brings_the_same_back_and_back_goes_back(visit: Visit) -> None:
    visit.go("#q=lorry17")
    page = visit.page
    page.click("#results > li:nth-child(2) a")
    cited = page.locator("#cited")
    expect(cited).to_be_in_viewport()
    text = cited.text_content() or ""
    address = page.url
    page.reload()
    expect(cited).to_have_text(text)
    expect(cited).to_be_in_viewport()
    expect(page.locator("#query")).to_have_value("lorry17")
    page.go_back()
    expect(page.locator("#document")).to_be_hidden()
    expect(page.locator("#results > li").first).to_be_visible()
    visit.go(address.partition("/#")[2].join(("#", "")))
    expect(cited).to_have_text(text)
    page.click("#close")
    expect(page.locator("#results > li:nth-child(2) a")).to_be_focused()
    assert page.url == f"{visit.url}/#q=lorry17"


def test_a_slow_older_answer_never_replaces_a_newer_one(visit: Visit) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        if "quokka" in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    visit.page.route("**/v1/search", hold)
    visit.go()
    visit.page.fill("#query", "quokka")
    visit.page.press("#query", "Enter")
    visit.search("wombat")
    expect(visit.page.locator("#results mark").first).to_have_text("Wombat")
    held[0].continue_()
    visit.page.wait_for_timeout(300)
    expect(visit.page.locator("#results mark").first).to_have_text("Wombat")
    assert [request.failure for request in visit.asked if request.failure] == ["net::ERR_ABORTED"]


def test_an_overloaded_server_is_asked_once_more(visit: Visit) -> None:
    refusals = [1, 1, 1]
    problem = {"code": "overloaded", "message": "too many", "request_id": "r1"}

    def refuse(route: Route) -> None:
        if refusals:
            refusals.pop()
            headers = {"Retry-After": "1"}
            route.fulfill(status=503, headers=headers, json={"error": problem})
        else:
            route.continue_()

    visit.page.route("**/v1/search", refuse)
    visit.go()
    visit.page.fill("#query", "wombat")
    visit.page.press("#query", "Enter")
    expect(visit.page.locator("#error")).to_contain_text("overloaded · request r1")
    assert visit.count("/v1/search") == 2
    visit.page.click("#error button")
    expect(visit.page.locator("#results > li")).to_have_count(1)
    assert visit.count("/v1/search") == 4
    visit.expected.add("Failed to load resource:")


def test_an_error_is_told_in_words_with_the_id_in_the_log(visit: Visit, served: Served) -> None:
    visit.go("#q=ibis&collection=nowhere")
    told = visit.texts("#error p")
    assert told[:2] == ["This collection does not exist.", "there is no collection nowhere"]
    code, _, request_id = told[2].partition(" · request ")
    assert code == "collection_not_found"
    assert request_id in served.log.read_text()
    visit.expected.add("404")


def test_a_server_that_is_gone_is_told(browser: Browser, shell: Shell) -> None:
    with serving(shell) as served, visiting(browser, served.url) as visit:
        visit.go()
        served.process.terminate()
        served.process.wait(timeout=10)
        visit.page.fill("#query", "wombat")
        visit.page.press("#query", "Enter")
        expect(visit.page.locator("#error p").nth(1)).to_have_text(
            "The server could not be reached."
        )
        visit.expected.add("ERR_CONNECTION_REFUSED")


def test_a_token_is_asked_for_and_kept_in_its_tab(browser: Browser, shell: Shell) -> None:
    env = {"GROUNDKIT_SERVE_TOKEN": TOKEN}
    with serving(shell, env=env) as served, visiting(browser, served.url) as visit:
        page = visit.page
        visit.go("#q=quokka")
        says = page.locator("#token-says")
        expect(says).to_have_text("This server asks for a token.")
        expect(page.locator("#token-value")).to_be_focused()
        page.keyboard.type("another-token-of-some-length")
        page.keyboard.press("Enter")
        expect(says).to_have_text("The server did not accept this token.")
        page.fill("#token-value", TOKEN)
        page.keyboard.press("Enter")
        expect(page.locator("#results > li")).to_have_count(1)
        expect(page.locator("#token")).to_be_hidden()
        page.reload()
        expect(page.locator("#results > li")).to_have_count(1)
        assert page.evaluate("[localStorage.length, document.cookie]") == [0, ""]
        assert all(TOKEN not in request.url for request in visit.asked)
        page = page.context.new_page()
        page.goto(f"{visit.url}/#q=quokka")
        expect(page.locator("#token")).to_be_visible()
        visit.expected.add("401")


def test_a_proxy_may_serve_it_under_a_prefix(visit: Visit) -> None:
    def forward(route: Route) -> None:
        route.fulfill(response=route.fetch(url=route.request.url.replace("/kb/", "/", 1)))

    visit.page.route("**/kb/**", forward)
    visit.page.goto(f"{visit.url}/kb/#q=quokka")
    expect(visit.page.locator("#results > li")).to_have_count(1)
    assert all("/kb/" in request.url for request in visit.asked)


def test_nothing_is_wider_than_a_phone(browser: Browser, served: Served) -> None:
    phone = {"viewport": {"width": 390, "height": 844}}
    with visiting(browser, served.url, **phone) as visit:
        for query in ("yak", "zebra", "lorry17"):
            visit.go(f"#q={query}")
            page = visit.page
            expect(page.locator("#results > li").first).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth") == 390
            page.click("#results li a")
            expect(page.locator("#cited")).to_be_in_viewport()
            scrolled = "[document.documentElement, document.getElementById('scroll')]"
            assert page.evaluate(f"{scrolled}.map((one) => one.scrollWidth)") == [390, 390]
            box = page.locator("#close").bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= 390


@pytest.mark.parametrize(("scheme", "paper"), [("light", "255, 255, 255"), ("dark", "20, 23, 27")])
def test_text_stands_out_in_light_and_in_dark(
    browser: Browser, served: Served, scheme: str, paper: str
) -> None:
    how = {"color_scheme": scheme, "reduced_motion": "reduce"}
    with visiting(browser, served.url, **how) as visit:
        for query in ("lorry17", "quokka", "wombat", "numbat"):
            visit.go(f"#q={query}")
            page = visit.page
            expect(page.locator("#results mark").first).to_be_visible()
            assert page.evaluate("getComputedStyle(document.body).backgroundColor") == (
                f"rgb({paper})"
            )
            for opened in (False, True):
                if opened:
                    page.click("#results li a")
                    expect(page.locator("#cited")).to_be_visible()
                least, node = visit.least_contrast()
                assert least >= 4.5, node


FOCUS = "[document.activeElement.tagName, getComputedStyle(document.activeElement).outlineStyle]"


@pytest.mark.parametrize(("motion", "moves"), [("reduce", False), ("no-preference", True)])
def test_nothing_moves_for_those_who_asked_for_that(
    browser: Browser, served: Served, motion: str, moves: bool
) -> None:
    with visiting(browser, served.url, reduced_motion=motion) as visit:
        visit.go()
        duration = "getComputedStyle(document.getElementById('results')).transitionDuration"
        assert (visit.page.evaluate(duration) != "0s") is moves


def test_everything_has_a_name_and_shows_its_focus(visit: Visit) -> None:
    visit.go("#q=gnu")
    page = visit.page
    names = ["combobox", "searchbox", "button", "link"]
    shown = page.locator("body").aria_snapshot()
    unnamed = [line for line in shown.splitlines() if line.strip(" -:") in names]
    assert unnamed == []
    fields = "[...document.querySelectorAll('input, select')]"
    assert page.evaluate(f"{fields}.map((one) => one.labels.length)") == [1, 1, 1, 1]
    stops = []
    page.keyboard.press("Tab")
    while (stop := page.evaluate(FOCUS)[0]) != "BODY":
        assert page.evaluate(FOCUS) == [stop, "solid"]
        stops.append(stop)
        page.keyboard.press("Tab")
    assert stops == ["BUTTON", "SELECT", "A", "SUMMARY"]
