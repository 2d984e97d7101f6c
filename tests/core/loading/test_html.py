from contextlib import suppress
from itertools import pairwise

import pytest
from groundkit_core.errors import RefusedError
from groundkit_core.loading.extracted import Extracted
from groundkit_core.loading.html import extract
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("selectolax")


def page(body: str, head: str = "") -> str:
    return f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"


def shown(html: str, *, full: bool = False) -> list[str]:
    """The text of each block."""
    return parts(extract(html.encode(), full=full))


def parts(found: Extracted) -> list[str]:
    return [found.text[block.start : block.end] for block in found.blocks]


BLOCKS = {
    # Paragraphs and inline elements
    "<p>one</p><p>two</p>": ["one", "two"],
    "one<p>two</p>three": ["one", "two", "three"],
    "<div>one</div><div>two</div>": ["one", "two"],
    "re<b>bui</b>lt, <i>not</i> <u>new</u>": ["rebuilt, not new"],
    "H<sub>2</sub>O x<sup>2</sup>": ["H2O x2"],
    "<p> a \n\t b <b> c</b> </p>": ["a b c"],
    "a&nbsp;b\u00ad\u200bc&#8239;d": ["a bc d"],
    "see <a href=x>the link</a>.": ["see the link."],
    "one<br>two": ["one\ntwo"],
    "one<br> <br>two": ["one", "two"],
    "a<q>b</q>c": ["a“b”c"],
    "<blockquote>said<p>more</blockquote>": ["said", "more"],
    "<a href=x><div>in a link</div></a>": ["in a link"],
    "one<hr>two": ["one", "two"],
    "<details><summary>more</summary>text</details>": ["more", "text"],
    "<label>Name <input value=x></label><textarea>text</textarea>": ["Name text"],
    "a<!-- no -->b": ["ab"],
    "&lt;p&gt; &amp;amp;": ["<p> &amp;"],
    "漢字<ruby>東<rp>(</rp><rt>ひがし</rt><rp>)</rp></ruby>京": ["漢字東京"],
    # Formulas
    "<math><msup><mi>x</mi><mn>2</mn></msup><mo>+</mo><mi>y</mi></math>": ["x^2+y"],
    "<math><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac></math>": [
        "(a+b)/2"
    ],
    "<math><munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover><mi>i</mi></math>": ["∑_i^n i"],
    "<math><msqrt><mn>2</mn></msqrt><annotation>x</annotation></math>": ["√(2)"],
    "<math><mtable><mtr><mtd>a</mtd><mtd>b</mtd></mtr><mtr><mtd>c</mtable></math>": ["a b c"],
    "<math><mfrac><mrow><mi>a</mi></mrow><mn>2</mn></mfrac></math>": ["a/2"],
    "<math><msup><mi>a</mi><mi>b</mi><mi>c</mi></msup></math>": ["a^bc"],
    # Images and figures
    "a <img alt='red kite'>.": ["a red kite."],
    "a<img alt=b>c": ["a b c"],
    "<figure><img alt=x><figcaption>caption</figcaption></figure>": ["x", "caption"],
    # Headings
    "<h1>one</h1>text<h6>six <i>x</i></h6>": ["one", "text", "six x"],
    "<h2>two<br>lines <p>and more</h2>": ["two lines and more"],
    "<h2>Title<a href=#t>¶</a></h2><h2>Title <a href=#u>#</a></h2>": ["Title", "Title"],
    "<h2>C#</h2>": ["C#"],
    # Lists
    "<ul><li>a<li>b</ul>": ["- a\n- b"],
    "<ol><li>a<li>b</ol>": ["1. a\n2. b"],
    "<ol start=9 type=i><li>a<li value=3>b<li>c</ol>": ["ix. a\niii. b\niv. c"],
    "<ol reversed type=A><li>a<li>b</ol>": ["B. a\nA. b"],
    "<ul><li>a<ol><li>b<ul><li>c</ul></ol><li>d</ul>": ["- a\n  1. b\n    - c\n- d"],
    "<ul><li><p>a</p><p>b</p><li>c<br>d</ul>": ["- a\n  b\n- c\n  d"],
    "<ul><li>a</ul><ul><li>b</ul>": ["- a", "- b"],
    "<ul><li>a<pre>x\n y</pre>b</ul>": ["- a", "x\n y", "  b"],
    "<ol><li><h2>Install</h2>text</ol>": ["1. Install", "text"],
    "<ul><li><li>b</ul>": ["- b"],
    "<li>a": ["- a"],
    "<dl><dt>term<dd>meaning<dd>other<dt>next</dl>": ["term\n  meaning\n  other\nnext"],
    # Code
    "<pre>\n  def f():\n\n      pass  \n</pre>": ["  def f():\n\n      pass"],
    "<pre><code>a <b>b</b>\nc</code></pre>": ["a b\nc"],
    "<pre><div>a</div><div>b</div></pre>": ["a\nb"],
    "<pre>a<br>b</pre>": ["a\nb"],
    # Tables
    "<table><tr><td>a<td>b<tr><td>c<td>d</table>": ["a | b\nc | d"],
    "<table><tr><th>a<th>b<tr><td>c<td>d</table>": ["a | b", "c | d"],
    "<table><thead><tr><td>a<td>b<tbody><tr><td>c<td>d</table>": ["a | b", "c | d"],
    "<table><tr><th>a<td>b<tr><th>c<td>d</table>": ["a | b\nc | d"],
    "<table><tr><td>a<td><td>b<tr><td><td>c<td></table>": ["a |  | b\n| c"],
    "<table><tr><td rowspan=2>a<td>b<tr><td>c</table>": ["a | b\n| c"],
    "<table><tr><td colspan=2>a<td>b<tr><td>c<td>d<td>e</table>": ["a |  | b\nc | d | e"],
    "<table><tr><td><p>a</p><p>b</p><td>c<br>d</table>": ["a b | c d"],
    "<table><tr><th>a<tr><td><ul><li>b<li>c</ul></table>": ["a", "- b - c"],
    "<table><tr><th>a<tr><td><table><tr><td>b<td>c</table></table>": ["a", "b c"],
    "<table><caption>about</caption><tr><td>a<td>b</table>": ["about", "a | b"],
    (
        "<table><thead><tr><th rowspan=2>a<th colspan=2>b<tr><th>c<th>d"
        "<tbody><tr><td>1<td>2<td>3</table>"
    ): ["a | b c | d", "1 | 2 | 3"],
    # Tables that only arrange a page
    "<table role=presentation><tr><td>a<td>b</table>": ["a", "b"],
    "<table><tr><td>a<p>b</table>": ["a", "b"],
    "<table><tr><td><h1>a</h1>b<td>c</table>": ["a", "b", "c"],
    "<table><tr><td>a<td><table><tr><td>b<td>c</table></table>": ["a", "b | c"],
    "<table><tr><td>a<td><p>b<p>c<p>d<p>e</table>": ["a", "b", "c", "d", "e"],
    # Not shown
    "a<script>x</script><style>x</style><template>x</template><noscript>x</noscript>b": ["ab"],
    "a<p hidden>x</p><p style='color:red; display : none'>x</p><dialog>x</dialog>": ["a"],
    "a<i aria-hidden=true>x</i><p aria-hidden=true>b</p>": ["a", "b"],
    "<p hidden=until-found>a": ["a"],
    "<svg><title>x</title><style>x</style><text>a</text><text>b</text></svg>": ["a b"],
}


@pytest.mark.parametrize("body", BLOCKS)
def test_blocks_are_those_that_a_browser_shows(body: str) -> None:
    assert shown(page(body)) == BLOCKS[body]


def test_the_text_is_the_blocks_with_blank_lines_between() -> None:
    found = extract(page("<h2>a</h2><p>b</p><ul><li>c</ul><pre>d</pre>").encode())
    assert found.text == "a\n\nb\n\n- c\n\nd\n\n"
    assert [(block.kind, block.level, block.title) for block in found.blocks] == [
        ("heading", 2, "a"),
        ("prose", 0, ""),
        ("lined", 0, ""),
        ("lined", 0, ""),
    ]


def test_rows_beneath_a_header_carry_it() -> None:
    found = extract(page("<table><tr><th>Part<th>Limit<tr><td>Hose<td>7 bar</table>").encode())
    assert [(block.kind, block.header) for block in found.blocks] == [
        ("lined", ""),
        ("lined", "Part | Limit"),
    ]


FURNITURE = (
    "<header>top</header><nav>menu</nav><p>text<button>copy</button>s</p>"
    "<article><header>by her</header>story<footer>end</footer></article>"
    "<aside>related</aside><div role=navigation>path</div><footer>legal</footer>"
)


def test_without_main_the_body_is_read_less_what_serves_the_page() -> None:
    assert shown(page(FURNITURE)) == ["text s", "by her", "story", "end"]


def test_main_is_read_alone_with_its_own_header_and_asides() -> None:
    main = "<p>before</p><main><header>a</header><aside>b</aside><nav>c</nav></main><p>after</p>"
    assert shown(page(main)) == ["a", "b"]
    assert shown(page("x<div role=main>a</div>")) == ["a"]


def test_of_several_main_elements_none_is_the_main_content() -> None:
    assert shown(page("a<main>b</main><main>c</main>")) == ["a", "b", "c"]
    assert shown(page("a<main>b</main><main hidden>c</main>")) == ["b"]


def test_full_reads_everything_that_is_shown() -> None:
    html = page(FURNITURE + "<main>main</main><p hidden>x</p><script>x</script>")
    assert shown(html, full=True) == [
        "top",
        "menu",
        "text copy s",
        "by her",
        "story",
        "end",
        "related",
        "path",
        "legal",
        "main",
    ]


def test_a_page_without_main_content_is_taken_whole_and_says_so() -> None:
    found = extract(page("<nav>menu</nav><main></main>").encode())
    assert parts(found) == ["menu"]
    assert found.warnings == ("no main content: all text of the page was taken",)


@pytest.mark.parametrize("html", ["", "<p hidden>x", "<script>x</script>"])
def test_a_page_that_shows_nothing_has_no_text(html: str) -> None:
    found = extract(html.encode())
    assert (found.text, found.blocks, found.warnings) == ("", (), ())


@pytest.mark.parametrize(
    ("html", "title"),
    [
        (page("<h1>Heading</h1>", "<title> The\n title</title>"), "The title"),
        (page("<h1>Heading</h1>", "<title> </title>"), "Heading"),
        (page("<svg><title>x</title></svg><h2>Two</h2><h1>One</h1>"), "Two"),
        (page("text"), None),
    ],
)
def test_the_title_is_that_of_the_page_else_its_first_heading(html: str, title: str | None) -> None:
    assert extract(html.encode()).title == title


META = "<meta charset={}><p>{}"
ENCODED = [
    (META.format("utf-8", "é").encode(), "é", "utf-8"),
    (META.format("latin1", "€ “é”").encode("cp1252"), "€ “é”", "cp1252"),
    (META.format("'iso-8859-2'", "ł").encode("iso8859-2"), "ł", "iso8859-2"),
    (META.format("shift_jis", "日本①").encode("cp932"), "日本①", "cp932"),
    (META.format("gb2312", "中國").encode("gb18030"), "中國", "gb18030"),
    (META.format("windows-1251", "слово").encode("cp1251"), "слово", "cp1251"),
    (b"<meta http-equiv=Content-Type content='text/html; charset=koi8-r'>\xc1", "а", "koi8-r"),
    (b"<?xml version='1.0' encoding='iso-8859-15'?><p>\xa4", "€", "iso8859-15"),
    (META.format("latin1", "é").encode("utf-8-sig"), "é", "utf-8-sig"),
    (META.format("utf-8", "é").encode("utf-16"), "é", "utf-16"),
    (META.format("utf-16", "é").encode(), "é", "utf-8"),
    (META.format("utf-7", "é +AGE-").encode(), "é +AGE-", "utf-8"),
    (META.format("nonsense", "é").encode(), "é", "utf-8"),
    (META.format("ascii", "é").encode(), "Ã©", "cp1252"),
    (b"<!-- <meta charset=koi8-r> -->\xc3\xa9", "é", "utf-8"),
    (META.format("euc-jp", "日é").encode(), "日é", "utf-8"),
    ("<p>é".encode(), "é", "utf-8"),
]


@pytest.mark.parametrize(("data", "text", "encoding"), ENCODED)
def test_the_encoding_is_what_the_page_declares_if_it_decodes(
    data: bytes, text: str, encoding: str
) -> None:
    found = extract(data)
    assert (found.text, found.encoding, found.warnings) == (f"{text}\n\n", encoding, ())
    assert extract(data, found.encoding) == found


def test_what_http_declares_goes_before_what_the_page_declares() -> None:
    data = META.format("koi8-r", "é").encode("cp1252")
    assert extract(data, declared="ISO-8859-1").encoding == "cp1252"
    assert extract(data, declared="utf-8").encoding == "koi8-r"
    assert extract("é".encode("utf-8-sig"), declared="latin1").encoding == "utf-8-sig"


def test_a_guessed_encoding_is_a_warning() -> None:
    data = "<p>Grüße aus München, schöne Grüße".encode("cp1252")
    found = extract(data)
    assert found.warnings == (f"encoding guessed: {found.encoding}",)


def test_the_recorded_encoding_decides_alone() -> None:
    assert extract(META.format("utf-8", "é").encode(), "cp1252").text == "Ã©\n\n"
    with pytest.raises(RefusedError, match="it does not decode as 'ascii'"):
        extract("é".encode(), "ascii")


def test_binary_content_is_refused() -> None:
    with pytest.raises(RefusedError, match="binary: it holds NUL bytes"):
        extract(b"<p>a\0b")


DEEP = {
    "<div>": "</div>",
    "<span>": "</span>",
    "<b>": "</b>",
    "<x-y>": "</x-y>",
    "<ul><li>": "</li></ul>",
    "<table><tr><td>": "</td></tr></table>",
}


@pytest.mark.timeout(5)
@pytest.mark.parametrize("closes", [False, True])
@pytest.mark.parametrize("tags", DEEP)
def test_deep_nests_are_refused_in_one_line(tags: str, closes: bool) -> None:
    with pytest.raises(RefusedError) as caught:
        extract((tags * 50_000 + "x" + DEEP[tags] * 50_000 * closes).encode())
    assert str(caught.value).startswith("HTML: tags nested more than 1000 deep")
    assert "\n" not in str(caught.value)


def test_a_thousand_levels_are_read_and_no_more() -> None:
    assert extract(b"<div>" * 1000 + b"x").text == "x\n\n"
    with pytest.raises(RefusedError, match="HTML: tags nested more than 1000 deep"):
        extract(b"<div>" * 1001 + b"x")


@pytest.mark.timeout(10)
def test_spans_of_cells_do_not_blow_up_a_table() -> None:
    html = "<table>" + "<tr><td colspan=1000 rowspan=65534>a<td>b" * 5_000
    assert len(extract(html.encode()).text) < 20 * len(html)


INLINE = ("a", "b", "code", "em", "span", "sub", "unknown")
OUTER = (
    "article",
    "blockquote",
    "div",
    "fieldset",
    "li",
    "ol",
    "p",
    "section",
    "table",
    "ul",
    "h2",
)
letters = st.text("abcdé茶", min_size=1, max_size=4)
blanks = st.sampled_from(["", " ", "\n", "\t  "])
leaves = st.tuples(blanks, letters, blanks).map("".join)
trees = st.recursive(
    leaves,
    lambda inner: st.builds(
        lambda tag, children: (tag, children),
        st.sampled_from(INLINE + OUTER),
        st.lists(inner, max_size=4),
    ),
    max_leaves=20,
)
Tree = str | tuple[str, list["Tree"]]


def source(tree: Tree) -> str:
    if isinstance(tree, str):
        return tree
    tag, children = tree
    if tag == "table":
        cells = "".join(f"<td>{source(child)}</td>" for child in children)
        return f"<table><tr>{cells}</tr></table>"
    return f"<{tag}>{''.join(map(source, children))}</{tag}>"


def words_of(tree: Tree) -> list[str]:
    """Words as a browser separates them: by white space and by the bounds of block elements."""
    return marked(tree).split()


def marked(tree: Tree) -> str:
    if isinstance(tree, str):
        return tree
    between = " " if tree[0] == "table" else ""
    inner = between.join(map(marked, tree[1]))
    return f" {inner} " if tree[0] in OUTER else inner


@given(st.lists(trees, max_size=4))
def test_every_word_is_there_in_order_and_whole(found: list[Tree]) -> None:
    extracted = extract(page("".join(map(source, found))).encode())
    words = [word for word in extracted.text.split() if word not in ("-", "|")]
    numbers = {f"{number}." for number in range(30)}
    expected = words_of(("div", found))
    assert [word for word in words if word not in numbers] == expected


@given(st.lists(trees, max_size=4))
def test_blocks_stand_in_order_inside_the_text_and_cover_it(found: list[Tree]) -> None:
    extracted = extract(page("".join(map(source, found))).encode())
    check_blocks(extracted)


def check_blocks(extracted: Extracted) -> None:
    bounds = [(block.start, block.end) for block in extracted.blocks]
    assert all(start < end for start, end in bounds)
    assert all(end + 2 == start for (_, end), (start, _) in pairwise(bounds))
    assert len(extracted.text) == (bounds[-1][1] + 2 if bounds else 0)
    assert not set(extracted.text) & set(map(chr, [*range(9), *range(11, 32), 0x7F, 0xAD, 0xFEFF]))


PIECES = [
    *(
        "<p",
        ">",
        "</p>",
        "<table>",
        "<tr>",
        "<td colspan=2>",
        "<th>",
        "</table>",
        "<pre>",
        "</pre>",
    ),
    *("<ul>", "<li>", "</ul>", "<ol start=-3 reversed>", "<dl>", "<dt>", "<h1>", "</h1>", "<main>"),
    *("<b>", "</i>", "<svg>", "<math>", "<mi>", "<img alt='", "<select>", "<option>", "<textarea>"),
    *("<template>", "</template>", "<frameset>", "<body>", "</html>", "<plaintext>", "<nav>"),
    *(
        "<!--",
        "-->",
        "<![CDATA[",
        "&#0;",
        "&#xd800;",
        "&#x1;",
        "&nbsp;",
        "&amp",
        "'",
        '"',
        "=",
        "/",
    ),
    *(" ", "word", "é", "\r", "\n", "\x0b"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.booleans())
def test_spliced_tags_are_read_the_same_each_time(html: str, full: bool) -> None:
    extracted = extract(html.encode(), full=full)
    check_blocks(extracted)
    assert extract(html.encode(), full=full) == extracted


@given(st.binary(max_size=200))
def test_random_bytes_are_read_or_refused(data: bytes) -> None:
    with suppress(RefusedError):
        check_blocks(extract(data))
