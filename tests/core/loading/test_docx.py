from contextlib import suppress
from pathlib import Path

import pytest
from groundkit_core import Collection
from groundkit_core.errors import RefusedError
from groundkit_core.loading.docx import extract
from groundkit_core.loading.extracted import Extracted
from hypothesis import given
from hypothesis import strategies as st

from tests.core.loading.word_files import STRICT, cell, packed, paragraph, row, run, table, word

STYLES = """
<w:style w:type="paragraph" w:default="1" w:styleId="Standard"><w:name w:val="Normal"/></w:style>
<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
<w:style w:type="paragraph" w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>
<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="Kapitel"><w:name w:val="Kapitel"/>
  <w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Unterkapitel"><w:name w:val="Unterkapitel"/>
  <w:basedOn w:val="Kapitel"/></w:style>
<w:style w:type="paragraph" w:styleId="TOC"><w:name w:val="TOC Heading"/>
  <w:basedOn w:val="Kapitel"/><w:pPr><w:outlineLvl w:val="9"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Quelltext"><w:name w:val="Source Code"/></w:style>
<w:style w:type="paragraph" w:styleId="Liste"><w:name w:val="List Number"/>
  <w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Kreis"><w:name w:val="a"/>
  <w:basedOn w:val="Kreis"/></w:style>
"""


def level(place: int, style: str, text: str, more: str = "") -> str:
    values = f'<w:numFmt w:val="{style}"/><w:lvlText w:val="{text}"/>{more}'
    return f'<w:lvl w:ilvl="{place}"><w:start w:val="1"/>{values}</w:lvl>'


NUMBERING = f"""
<w:abstractNum w:abstractNumId="0">{level(0, "decimal", "%1.")}{level(1, "lowerLetter", "%2)")}
  {level(2, "decimal", "%1.%2.%3", "<w:isLgl/>")}</w:abstractNum>
<w:abstractNum w:abstractNumId="1">{level(0, "bullet", "*")}{level(1, "none", "")}</w:abstractNum>
<w:abstractNum w:abstractNumId="2">{level(0, "upperRoman", "Article %1")}</w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>
<w:num w:numId="2"><w:abstractNumId w:val="0"/>
  <w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>
<w:num w:numId="3"><w:abstractNumId w:val="1"/></w:num>
<w:num w:numId="4"><w:abstractNumId w:val="2"/></w:num>
"""


def parts(found: Extracted) -> list[str]:
    return [found.text[block.start : block.end] for block in found.blocks]


def shown(body: str) -> list[str]:
    """The text of each block of a file with the styles and lists above."""
    return parts(extract(word(body, styles=STYLES, numbering=NUMBERING)))


def style(name: str) -> str:
    return f'<w:pStyle w:val="{name}"/>'


def item(text: str, number: int, place: int = 0) -> str:
    return paragraph(
        text, f'<w:numPr><w:ilvl w:val="{place}"/><w:numId w:val="{number}"/></w:numPr>'
    )


def test_tables_stand_between_the_paragraphs_around_them() -> None:
    body = (
        paragraph("Before")
        + table(row("Part", "Limit"), row("Hose", "7 bar"), look="0020")
        + paragraph("After")
    )
    found = extract(word(body))
    assert found.text == "Before\n\nPart | Limit\n\nHose | 7 bar\n\nAfter\n\n"
    assert [(block.kind, block.header) for block in found.blocks] == [
        ("prose", ""),
        ("lined", ""),
        ("lined", "Part | Limit"),
        ("prose", ""),
    ]


def test_a_search_cites_the_row_of_a_table(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    rows = table(row("Part", "Limit"), row("Hose", "7 bar"), look="0020")
    data = word(paragraph("Before") + rows + paragraph("After"))
    (folder / "a.docx").write_bytes(data)
    with Collection.open(tmp_path / "index") as collection:
        collection.ingest([folder])
        (result,) = collection.search("hose limit", verify=True).results
    span = slice(result.citation.start, result.citation.end)
    assert "Hose | 7 bar" in result.content == extract(data).text[span]
    assert result.verification is not None
    assert result.verification.status == "verified"


MERGED = table(
    row(cell("a", '<w:gridSpan w:val="2"/>'), cell("b", '<w:vMerge w:val="restart"/>')),
    row("c", "d", cell("unseen", "<w:vMerge/>")),
    row("e", properties='<w:gridBefore w:val="1"/>'),
)
NESTED = table(row(cell(table(row("a", "b"), row("c", "d"))), "e"), row("f", "g"))


@pytest.mark.parametrize(
    ("xml", "texts"),
    [
        (MERGED, ["a |  | b\nc | d\n| e"]),
        (NESTED, ["a b c d | e\nf | g"]),
        (table(row(cell(paragraph("a") + paragraph("b")), "c")), ["a b | c"]),
        (table(row("a", "b", properties="<w:tblHeader/>"), row("c", "d")), ["a | b", "c | d"]),
        (table(row(cell(paragraph("a") + table(row("b", "c"))))), ["a", "b | c"]),
        (table(row("a", "b"), row("c", "d", properties="<w:del/>")), ["a | b"]),
        (table(row("a", "b"), row("c", "d", properties="<w:ins/>")), ["a | b\nc | d"]),
        (table(row(cell(item("a", 3) + item("b", 3)), "c")), ["- a - b | c"]),
    ],
)
def test_a_row_is_a_line_and_merged_text_stands_once(xml: str, texts: list[str]) -> None:
    assert shown(xml) == texts


def test_headings_are_told_by_built_in_names_and_outline_levels() -> None:
    body = (
        paragraph("one", style("berschrift1"))
        + paragraph("two", style("berschrift2"))
        + paragraph("three", style("Kapitel"))
        + paragraph("inherited", style("Unterkapitel"))
        + paragraph("own", '<w:outlineLvl w:val="0"/>')
        + paragraph("contents", style("TOC"))
        + paragraph("text", style("Kapitel") + '<w:outlineLvl w:val="9"/>')
        + paragraph("unknown", style("Nowhere") + style("Kreis"))
    )
    found = extract(word(body, styles=STYLES))
    assert [(block.kind, block.level, block.title) for block in found.blocks] == [
        ("heading", 1, "one"),
        ("heading", 2, "two"),
        ("heading", 3, "three"),
        ("heading", 3, "inherited"),
        ("heading", 1, "own"),
        ("prose", 0, ""),
        ("prose", 0, ""),
        ("prose", 0, ""),
    ]
    assert found.title == "one"


def test_headings_stand_beneath_the_title() -> None:
    body = paragraph("Book", style("Titel")) + paragraph("one", style("berschrift1"))
    found = extract(word(body, styles=STYLES))
    assert [(block.level, block.title) for block in found.blocks] == [(1, "Book"), (2, "one")]
    assert found.title == "Book"


def test_lists_have_the_marks_and_numbers_that_word_shows() -> None:
    body = (
        item("a", 1)
        + item("b", 1, 1)
        + item("c", 1, 1)
        + item("d", 1, 2)
        + item("e", 1)
        + item("f", 1, 1)
        + item("g", 2)
        + item("h", 2)
        + item("i", 3)
        + item("j", 1)
    )
    assert shown(body) == ["1. a\n  a) b\n  b) c\n    1.2.1 d\n2. e\n  a) f\n5. g\n6. h\n- i\n7. j"]


def test_numbers_come_from_styles_and_stand_before_headings() -> None:
    number = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="{}"/></w:numPr>'
    body = (
        paragraph("a", style("Liste"))
        + paragraph("b", style("Liste") + number.format(0))
        + paragraph("c", style("berschrift1") + number.format(4))
        + item("d", 3, 1)
        + item("e", 99)
        + paragraph("f", style("Liste"))
    )
    assert shown(body) == ["1. a", "b", "Article I c", "d", "e", "2. f"]


PARAGRAPHS = {
    run("re") + run("built ") + run("now"): ["rebuilt now"],
    '<w:hyperlink r="x">' + run("link") + "</w:hyperlink>" + run("."): ["link."],
    run("a")
    + "<w:ins>"
    + run("b")
    + "</w:ins><w:del><w:r><w:delText>x</w:delText></w:r></w:del>": ["ab"],
    "<w:moveFrom>" + run("x") + "</w:moveFrom><w:moveTo>" + run("y") + "</w:moveTo>": ["y"],
    run("a") + run("x", "<w:vanish/>") + run("b", '<w:vanish w:val="0"/>'): ["ab"],
    "<w:sdt><w:sdtPr><w:tag/></w:sdtPr><w:sdtContent>" + run("in") + "</w:sdtContent></w:sdt>": [
        "in"
    ],
    "<w:r><w:t>a</w:t><w:br/><w:t>b</w:t><w:tab/><w:t>c</w:t></w:r>": ["a\nb\tc"],
    "<w:r><w:t>a</w:t><w:noBreakHyphen/><w:t>b</w:t><w:softHyphen/><w:t>c</w:t></w:r>": ["a-bc"],
    '<w:r><w:t> a </w:t></w:r><w:r><w:t xml:space="preserve"> b </w:t></w:r>': ["a b"],
    '<w:r><w:sym w:char="2192"/><w:sym w:char="F0E0"/><w:sym w:char="zz"/></w:r>': ["→"],
    "<w:r><w:fldChar/><w:instrText>PAGE</w:instrText></w:r>" + run("7"): ["7"],
    run("a\u00a0b\u00adc"): ["a bc"],
    "<w:ruby><w:rt>" + run("x") + "</w:rt><w:rubyBase>" + run("a") + "</w:rubyBase></w:ruby>": [
        "a"
    ],
}


@pytest.mark.parametrize("runs", PARAGRAPHS)
def test_a_paragraph_is_what_word_shows_with_its_changes_accepted(runs: str) -> None:
    assert shown(paragraph(runs)) == PARAGRAPHS[runs]


def test_a_deleted_paragraph_mark_joins_two_paragraphs() -> None:
    body = paragraph("re", "<w:rPr><w:del/></w:rPr>") + paragraph("built") + paragraph("next")
    assert shown(body) == ["rebuilt", "next"]


def test_properties_of_a_paragraph_mark_are_none_of_its_text() -> None:
    mark = "<w:rPr><w:ins/><w:vanish/></w:rPr>"
    body = paragraph("a", mark) + paragraph(m("oMath", t("b")), mark)
    assert shown(body) == ["a", "b"]


def test_a_text_box_is_read_once_before_its_paragraph() -> None:
    box = f"<w:txbxContent>{paragraph('box')}</w:txbxContent>"
    drawing = (
        f"<mc:AlternateContent><mc:Choice><w:drawing>{box}</w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict>{box}</w:pict></mc:Fallback></mc:AlternateContent>"
    )
    assert shown(paragraph(f"{run('an')}<w:r>{drawing}</w:r>{run('chor')}")) == ["box", "anchor"]
    assert shown(paragraph(f"<w:r><w:pict>{box}</w:pict></w:r>")) == ["box"]


def test_code_keeps_its_lines() -> None:
    courier = '<w:rFonts w:ascii="Courier New"/>'
    body = (
        paragraph("text")
        + paragraph("def f():", style("Quelltext"))
        + paragraph("    pass", style("Quelltext"))
        + paragraph("between")
        + paragraph(run("if x:", courier))
        + paragraph(run("  y()", courier))
        + item("call", 3)
        + paragraph(run("call ") + run("y()", courier))
    )
    assert shown(body) == [
        "text",
        "def f():\n    pass",
        "between",
        "if x:\n  y()",
        "- call",
        "call y()",
    ]


def note(kind: str, name: int, text: str) -> str:
    return f'<w:{kind} w:id="{name}">{paragraph(text)}</w:{kind}>'


def test_notes_follow_what_refers_to_them() -> None:
    foot = '<w:r><w:footnoteReference w:id="{}"/></w:r>'
    end = '<w:r><w:endnoteReference w:id="{}"/></w:r>'
    body = (
        paragraph(run("one") + foot.format(7) + run(" two") + end.format(2))
        + table(row("a", cell(paragraph(run("b") + foot.format(8)))))
        + item("c", 3)
        + paragraph(
            run("d") + foot.format(9), '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="3"/></w:numPr>'
        )
        + item("e", 3)
    )
    footnotes = "".join(note("footnote", name, f"foot {name}") for name in (0, 7, 8, 9))
    data = word(
        body,
        numbering=NUMBERING,
        footnotes=footnotes,
        endnotes=note("endnote", 2, "end 2"),
    )
    assert parts(extract(data)) == [
        "one two",
        "[1] foot 7",
        "[i] end 2",
        "a | b",
        "[2] foot 8",
        "- c\n- d\n- e",
        "[3] foot 9",
    ]


def m(name: str, *content: str) -> str:
    return f"<m:{name}>{''.join(content)}</m:{name}>"


def t(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


FORMULAS = {
    m("sSup", m("e", t("r")), m("sup", t("2"))): "r^2",
    m("sSub", m("e", t("a")), m("sub", t("n+1"))) + t("b"): "a_(n+1)b",
    m("sSub", m("e", t("a")), m("sub", t("n"))) + t("b"): "a_n b",
    m("f", m("num", t("a+b")), m("den", t("2"))): "(a+b)/2",
    m("rad", m("deg"), m("e", t("x+1"))): "√(x+1)",
    m(
        "d", m("dPr", '<m:begChr m:val="["/><m:endChr m:val="]"/>'), m("e", t("a")), m("e", t("b"))
    ): ("[a|b]"),
    m(
        "nary",
        m("naryPr", '<m:chr m:val="∑"/>'),
        m("sub", t("n=1")),
        m("sup", t("∞")),
        m("e", t("a")),
    ): ("∑_(n=1)^∞ a"),
    t("b") + m("func", m("fName", t("cos")), m("e", t("x"))): "b cos x",
    m("limLow", m("e", t("lim")), m("lim", t("n"))): "lim_n",
    m(
        "m", m("mr", m("e", t("a")), m("e", t("b"))), m("mr", m("e", t("c")), m("e", t("d")))
    ): "a b; c d",
}


@pytest.mark.parametrize("formula", FORMULAS)
def test_formulas_stand_on_one_line(formula: str) -> None:
    assert shown(paragraph(run("let ") + m("oMath", formula) + run(" be"))) == [
        f"let {FORMULAS[formula]} be"
    ]


def test_formulas_are_not_glued_to_words_or_to_each_other() -> None:
    runs = run("let") + m("oMath", t("x")) + m("oMath", t("y")) + run("be, ") + m("oMath", t("z"))
    assert shown(paragraph(runs)) == ["let x y be, z"]


def test_what_word_repeats_or_shows_aside_is_left_out() -> None:
    data = word(paragraph("text"), header=paragraph("head"), comments=paragraph("comment"))
    assert parts(extract(data)) == ["text"]


def test_an_embedded_file_makes_the_text_partial() -> None:
    found = extract(word(paragraph("text") + "<w:altChunk/>"))
    assert (found.text, found.partial) == ("text\n\n", "a file embedded in it was not read")


def test_strict_files_and_other_places_of_the_body_are_read() -> None:
    assert parts(extract(word(paragraph("text"), namespace=STRICT, main="a/b.xml"))) == ["text"]


def test_a_file_that_shows_nothing_has_no_text() -> None:
    found = extract(word(paragraph(" ")))
    assert (found.text, found.blocks, found.warnings) == ("", (), ())


LAUGHS = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
BOMB = f'<!DOCTYPE x [<!ENTITY a0 "ha">{LAUGHS}]>'
OUTSIDE = '<!DOCTYPE x [<!ENTITY a9 SYSTEM "file:///etc/hostname">]>'
REFUSED = {
    "its XML has a document type": [
        word(paragraph("&a9;"), prologue=BOMB),
        word(paragraph("&a9;"), prologue=OUTSIDE),
        word(paragraph("a"), prologue="<!DOCTYPE x>"),
    ],
    "its XML is damaged": [
        word(paragraph("&a9;")),
        word("<w:p>"),
        word("", prologue="<?xml version='1.0' encoding='no-such'?>"),
        packed({"_rels/.rels": "<a"}),
    ],
    "XML nested more than 1000 deep": [word("<w:p>" * 50_000 + "</w:p>" * 50_000)],
    "it has no document in it": [packed({"a": "b"}), packed({"_rels/.rels": "<a/>"})],
    "no valid Zip archive": [b"text"],
    "it is encrypted or in an old format": [b"\xd0\xcf\x11\xe0" + bytes(600)],
}


@pytest.mark.timeout(10)
@pytest.mark.parametrize("reason", REFUSED)
def test_what_cannot_be_read_is_refused_in_one_line(reason: str) -> None:
    for data in REFUSED[reason]:
        with pytest.raises(RefusedError) as caught:
            extract(data)
        assert str(caught.value) == f"Word: {reason}"


TAGS = [
    *("w:p", "w:r", "w:t", "w:tbl", "w:tr", "w:tc", "w:pPr", "w:rPr", "w:trPr", "w:tcPr", "w:del"),
    *("w:numPr", "w:numId", "w:ilvl", "w:pStyle", "w:outlineLvl", "w:vanish", "w:sym", "w:br"),
    *("w:vMerge", "w:gridSpan", "w:gridBefore", "w:tblHeader", "w:tblLook", "w:sdt", "w:altChunk"),
    *("w:footnote", "w:footnoteReference", "w:txbxContent", "mc:Fallback"),
    *("m:oMath", "m:f", "m:num", "m:den", "m:d", "m:chr", "m:e", "m:t"),
]
trees = st.recursive(
    st.sampled_from(["", "text", " a b ", "\n"]),
    lambda inner: st.builds(
        lambda tag, value, inside: f'<{tag} w:val="{value}">{"".join(inside)}</{tag}>',
        st.sampled_from(TAGS),
        st.sampled_from(["", "0", "1", "-1", "9999999", "x", "restart"]),
        st.lists(inner, max_size=5),
    ),
    max_leaves=30,
)


@given(st.lists(trees, max_size=5).map("".join))
def test_any_order_of_elements_is_read_the_same_each_time(body: str) -> None:
    data = word(body, styles=STYLES, numbering=NUMBERING, footnotes=body)
    found = extract(data)
    assert extract(data) == found
    assert found.text == "".join(f"{part}\n\n" for part in parts(found))


@given(st.data())
def test_damaged_files_are_read_or_refused(data: st.DataObject) -> None:
    damaged = bytearray(word(paragraph("text"), styles=STYLES))
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    with suppress(RefusedError):
        extract(bytes(damaged))
