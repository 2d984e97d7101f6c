"""Small inputs from reports about comparable systems, and what is right for each."""

from pathlib import Path

import pytest
from groundkit_core import Collection, Document, SearchResponse
from groundkit_core.errors import RetrievalError
from groundkit_core.testing import MappingReader

from tests.core.index.support import cited, documents, found, statuses, write


def make(folder: Path, texts: dict[str, str], language: str = "english") -> Collection:
    """A collection of plain documents, opened anew, that verifies against the texts."""
    Collection.open(folder / "c").add(documents(texts), language=language)
    return Collection.open(folder / "c", reader=MappingReader(texts))


def verified(response: SearchResponse) -> bool:
    return all(r.verification and r.verification.status == "verified" for r in response.results)


# A8


def test_fewer_hits_than_asked_are_no_error(tmp_path: Path) -> None:
    collection = make(tmp_path, {"a": "red kite"})

    assert found(collection.search("kite", top_k=20)) == ["a"]
    for top_k in (0, 101):
        with pytest.raises(RetrievalError):
            collection.search("kite", top_k=top_k)


@pytest.mark.parametrize("texts", [{}, {"a": "", "b": ""}, {"a": "?!"}], ids=str)
def test_nothing_to_find_is_an_empty_answer(texts: dict[str, str], tmp_path: Path) -> None:
    collection = make(tmp_path, texts)

    assert collection.search("kite").results == ()
    assert Collection.open(tmp_path / "c").search("kite").results == ()


def test_an_unknown_word_finds_nothing_before_and_after_reopening(tmp_path: Path) -> None:
    collection = make(tmp_path, {"a": "red kite", "b": "blue kite"})
    for _ in range(2):
        assert collection.search("zebra").results == ()
        assert collection.search("kite").results != ()
        collection.close()
        collection = Collection.open(tmp_path / "c")


def test_stop_words_alone_find_what_holds_them(tmp_path: Path) -> None:
    collection = make(tmp_path, {"a": "the kite of Tom", "b": "blue kite", "c": "the end"})

    assert found(collection.search("the of")) == ["a", "c"]
    assert set(found(collection.search("the kite"))) == {"a", "b"}


def test_equal_scores_stand_in_one_order(tmp_path: Path) -> None:
    collection = make(tmp_path, {"a": "quick owl", "b": "quick elk", "c": "foo"})
    responses = [collection.search("quick") for _ in range(10)]
    first = responses[0].results

    assert set(found(responses[0])) == {"a", "b"}
    assert first[0].score == first[1].score > 0
    assert responses == [responses[0]] * 10


# A9 and A42, A54: words of many languages


@pytest.mark.parametrize("query", ["厨房", "厨房 飞机", "茶壶", "茶", "架子上"])
def test_unspaced_words_are_found(query: str, tmp_path: Path) -> None:
    collection = make(tmp_path, {"a": "茶壶在厨房的架子上", "b": "钥匙挂在门后"})
    response = collection.search(query, verify=True)

    assert found(response) == ["a"]
    assert response.results[0].score > 0
    assert verified(response)


LANGUAGES = {
    "Korean": ("주전자는 부엌 선반에 있습니다", "열쇠는 문 뒤에 있다", ["부엌", "주전자", "선반"]),
    "Arabic": ("الإبريق على رف المطبخ", "المفتاح خلف الباب", ["المطبخ", "رف"]),
    "Hebrew": ("הקומקום על המדף במטבח", "המפתח מאחורי הדלת", ["המדף", "במטבח"]),
    "Chinese": ("茶壶在厨房的架子上", "钥匙挂在门后", ["厨房", "茶壶"]),
    "Japanese": ("やかんは台所の棚にあります", "鍵はドアの後ろ", ["台所", "やかん", "棚"]),
    "Thai": ("กาน้ำชาอยู่บนชั้นในครัว", "กุญแจแขวนหลังประตู", ["ครัว", "กาน้ำชา"]),
    "Hindi": ("चायदानी रसोई की शेल्फ पर है", "चाबी दरवाज़े के पीछे", ["रसोई", "चायदानी"]),
    "Russian": ("чайник стоит на полке", "ключ за дверью", ["чайник", "полке"]),
    "Greek": ("η τσαγιέρα είναι στο ράφι", "το κλειδί", ["τσαγιερα", "ΡΆΦΙ", "ράφι"]),
    "Vietnamese": ("ấm trà trên kệ bếp", "chìa khóa sau cửa", ["bếp", "bep", "ấm"]),
    "German": (
        "die Teekanne steht im Küchenregal",
        "der Schlüssel",
        ["küchenregal", "Kuchenregal"],
    ),
    "Tamil": ("தேநீர் பானை சமையலறையில்", "சாவி கதவின் பின்னால்", ["சமையலறையில்", "பானை"]),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_are_found_in(language: str, tmp_path: Path) -> None:
    text, other, queries = LANGUAGES[language]
    collection = make(tmp_path, {"a": text, "b": other})
    for query in queries:
        response = collection.search(query, verify=True)
        assert found(response)[:1] == ["a"], query
        assert verified(response)
        assert response.results[0].content == text


# A10


TICKET = "Ticket ZQ-0054 sets retry_limit in src/app/conf.py for @acme/tools v2026.4.10"


@pytest.mark.parametrize(
    "query",
    [
        "ZQ-0054", "zq-0054", "retry_limit", "retry limit", "src/app/conf.py", "@acme/tools",
        "acme tools", "2026.4.10", "v2026.4.10", "conf.py", "conf", "tools", "0054",
    ],
)  # fmt: skip
def test_identifiers_are_found_whole_and_in_parts(query: str, tmp_path: Path) -> None:
    collection = make(tmp_path, {"a": TICKET, "b": "Nothing of that kind."})

    assert found(collection.search(query)) == ["a"]


def test_the_exact_identifier_ranks_above_its_neighbour(tmp_path: Path) -> None:
    other = TICKET.replace("0054", "0055")
    collection = make(tmp_path, {"a": TICKET, "b": other, "c": f"{other} {other}"})

    assert found(collection.search("ZQ-0054"))[0] == "a"
    assert found(collection.search("ZQ-0055"))[0] in ("b", "c")


def test_a_one_letter_word_is_found(tmp_path: Path) -> None:
    collection = make(tmp_path, {"a": "The R and C manuals", "b": "The other manuals"})

    assert found(collection.search("R")) == ["a"]
    assert found(collection.search("C manuals"))[0] == "a"


# A38


@pytest.mark.parametrize(
    ("now", "verdict"),
    [
        ("The pump runs at 7 bar.\n", "verified"),
        ("Read this first.\n\nThe pump runs at 7 bar.\n", "moved"),
        ("The pump runs at 9 bar.\n", "drifted"),
        ("", "drifted"),
        (None, "unresolvable"),
    ],
)
def test_a_source_edited_after_ingest_is_labelled(
    now: str | None, verdict: str, tmp_path: Path
) -> None:
    docs = write(tmp_path / "docs", {"a.md": "The pump runs at 7 bar.\n", "b.md": "A pump.\n"})
    collection = Collection.open(tmp_path / "index" / "c")
    collection.ingest([docs])
    if now is None:
        (docs / "a.md").unlink()
    else:
        write(docs, {"a.md": now})
    labels = {
        r.citation.source: r.verification and r.verification.status
        for r in collection.search("pump", verify=True).results
    }

    assert labels == {"docs/a.md": verdict, "docs/b.md": "verified"}


# A42


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("timeout", "timeouts"),
        ("configure", "configuration"),
        ("getUserName", "username"),
        ("get_chunks_since", "chunks"),
        ("e-mail", "email"),
        ("café", "cafe"),
        ("cafe\u0301", "caf\u00e9"),
        ("naïve", "naive"),
        ("5 GB", "5GB"),
        ("HTTPServer", "http server"),
        ("ﬁle", "file"),
        ("Ａ１", "a1"),
        ("Straße", "strasse"),
        ("co\u00adoperate", "cooperate"),
        ("don't", "don't"),
    ],
)
def test_forms_of_one_word_find_each_other(text: str, query: str, tmp_path: Path) -> None:
    there = make(tmp_path / "there", {"a": f"It is {text} here.", "b": "Nothing."})
    back = make(tmp_path / "back", {"a": f"It is {query} here.", "b": "Nothing."})

    assert found(there.search(query)) == ["a"]
    assert found(back.search(text)) == ["a"]


# A43


def test_copies_of_a_page_do_not_hide_the_useful_one(tmp_path: Path) -> None:
    page = "# Hose limits\n\nThe hose limit is described on every page. Hose limit, hose limit.\n"
    files = {f"copy{n:02}.md": page for n in range(12)}
    useful = "# Hydraulics\n\nThe hose limit is 7 bar, measured at the valve.\n"
    orders = []
    for name, turned in (("one", False), ("two", True)):
        docs = write(tmp_path / name / "docs", {**files, "useful.md": useful})
        collection = Collection.open(tmp_path / name / "index" / "c")
        for path in sorted(docs.iterdir(), reverse=turned):
            collection.ingest([path])
        results = collection.search("hose limit").results
        orders.append([(r.citation.chunk_id, [c.source for c in r.copies]) for r in results])

    assert orders[0] == orders[1]
    assert "docs/useful.md" in [r.citation.source for r in results[:3]]
    assert [len(r.copies) for r in results] == [11, 0]
    assert {results[0].citation.source, *(c.source for c in results[0].copies)} == {
        f"docs/copy{n:02}.md" for n in range(12)
    }


# A44


def test_title_and_headings_help_a_passage_far_below_them(tmp_path: Path) -> None:
    filler = "\n\n".join(f"Paragraph {n} says little of interest to anyone." for n in range(300))
    long = f"# Hydraulic pump\n\n## Overview\n\n{filler}\n\n## Limits\n\nThe torque is 12 Nm.\n"
    short = "The torque of the cover screws is 2 Nm, and so it stays.\n"
    docs = write(tmp_path / "docs", {"long.md": long, "short.md": short})
    collection = Collection.open(tmp_path / "index" / "c")
    collection.ingest([docs])
    first, *_ = collection.search("hydraulic pump torque").results

    assert first.citation.source == "docs/long.md"
    assert "12 Nm" in first.content
    assert first.citation.heading_path == ("Hydraulic pump", "Limits")
    assert "Hydraulic" not in first.content


# A54


def test_spans_are_those_of_the_original_text(tmp_path: Path) -> None:
    text = "👩‍👩‍👧 cafe\u0301 ﬁrst\r\n\r\nहिन्दी में 茶 और क्षत्रिय\r\n"
    docs = write(tmp_path / "docs", {"a.txt": text})
    collection = Collection.open(tmp_path / "index" / "c")
    collection.ingest([docs])
    for query in ("café", "cafe", "first", "हिन्दी", "茶", "क्षत्रिय"):
        (result,) = collection.search(query, verify=True).results
        citation = result.citation
        assert text[citation.start : citation.end] == result.content
        assert result.verification is not None
        assert result.verification.status == "verified"


# A56


def test_a_line_at_the_top_keeps_ids_and_moves_old_citations(tmp_path: Path) -> None:
    parts = [f"## Part {n}\n\nPassage {n} on valves.\n\n" for n in range(6)]
    docs = write(tmp_path / "docs", {"a.md": "# Manual\n\nIntro.\n\n" + "".join(parts)})
    collection = Collection.open(tmp_path / "index" / "c")
    collection.ingest([docs])
    before = cited(collection)
    line = "A new line.\n\n"
    write(docs, {"a.md": line + "# Manual\n\nIntro.\n\n" + "".join(parts)})
    report = collection.ingest([docs])
    after = cited(collection)

    assert (report.added, report.dropped) == (1, 0)
    assert {text: c.chunk_id for text, c in before.items()}.items() <= {
        text: c.chunk_id for text, c in after.items()
    }.items()
    for text, citation in before.items():
        verdict = collection.verify(citation, content=text)
        assert verdict.status == "moved"
        assert verdict.span is not None
        assert verdict.span.start == citation.start + len(line) == after[text].start
        assert verdict.lines == after[text].lines
    assert set(statuses(collection)) == {"verified"}


def test_a_title_of_its_own_is_searched(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    collection.add([Document.from_text("a", "Turn it twice.", title="Hydraulic torque")])
    (result,) = collection.search("torque").results

    assert (result.title, result.content) == ("Hydraulic torque", "Turn it twice.")
