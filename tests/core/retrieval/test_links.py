from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from groundkit_core import Citation
from groundkit_core.retrieval.links import link_to, web_link

WEB = "https://example.org/a?b=c"


def cited(source: str, extractor: str, **given: Any) -> Citation:
    return Citation(
        document_id="d",
        chunk_id="c",
        source=source,
        start=0,
        end=1,
        extractor=extractor,
        content_hash="h",
        **given,
    )


@pytest.mark.parametrize(
    ("extractor", "given", "content", "fragment"),
    [
        ("pdf@1", {"pages": (12, 14)}, "Any text.", "#page=12"),
        ("pdf@1", {}, "Any text.", ""),
        ("text@1", {"lines": (3, 4)}, "Any text.", ""),
        ("html@1", {}, "Any text.", "#:~:text=Any%20text."),
        ("html@1?content=full", {}, "a-b, c & d", "#:~:text=a%2Db%2C%20c%20%26%20d"),
        (
            "html@1",
            {},
            "one two three four five six seven eight nine ten eleven twelve thirteen",
            (
                "#:~:text=one%20two%20three%20four%20five%20six,"
                "eight%20nine%20ten%20eleven%20twelve%20thirteen"
            ),
        ),
        ("html@1", {}, "A title\n\nThe body of it.", "#:~:text=A%20title,The%20body%20of%20it."),
        ("html@1", {}, "厨房的架子", "#:~:text=%E5%8E%A8%E6%88%BF%E7%9A%84%E6%9E%B6%E5%AD%90"),
    ],
)
def test_a_link_opens_the_cited_place_where_its_scheme_can_say_that(
    extractor: str, given: dict[str, Any], content: str, fragment: str, tmp_path: Path
) -> None:
    assert web_link(cited(WEB, extractor, **given), content) == WEB + fragment
    of_file = link_to(cited("docs/ü b.x", extractor, **given), content, {"docs": tmp_path})
    assert of_file is not None
    path, _, tail = of_file.removeprefix("file://").partition("#")
    assert (unquote(path), f"#{tail}" if tail else "") == (str(tmp_path / "ü b.x"), fragment)


def test_what_is_neither_a_url_nor_beneath_a_root_has_no_link(tmp_path: Path) -> None:
    assert web_link(cited("docs/a.md", "text@1"), "x") is None
    assert link_to(cited("rows/1", "given@1"), "x", {"docs": tmp_path}) is None


def test_a_record_opens_its_file(tmp_path: Path) -> None:
    link = link_to(cited("docs/k.jsonl#a%23b", "jsonl@1?text=t"), "x", {"docs": tmp_path})
    assert link == (tmp_path / "k.jsonl").as_uri()
