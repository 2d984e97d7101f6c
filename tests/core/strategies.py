"""Texts as people and machines really leave them, for property tests."""

from unicodedata import normalize

from groundkit_core.config import ChunkingConfig
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

__all__ = [
    "ascii_texts",
    "chunkings",
    "code_texts",
    "csv_texts",
    "markdown_texts",
    "rst_texts",
    "spaced_texts",
    "texts",
    "unhurried",
    "words",
]

BREAKS = [
    "\n",
    "\r\n",
    "\r",
    "\n\n",
    "\r\n\r\n",
    "\r\r",
    "\n \t\n",
    "\x0b",
    "\x0c",
    "\x85",
    "\u2028",
]
BLANKS = [" ", "  ", "\t", "\u00a0", "\u3000", "\u2003", "\x1c", "\x1f"]
INVISIBLE = ["\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e"]
CONTROLS = ["\0", "\x07", "\x1b[31m", "\x7f", "\x9b"]
MARKS = ["\u0301", "\u0308", "\u0323\u0302", "\u0e49", "\u093f", "\u3099", "\u0301" * 130]
POINTS = [
    ".",
    ". ",
    "! ",
    "?",
    "…",
    "。",
    "！",
    ", ",
    "-",
    "_",
    "/",
    "@",
    '"',
    "”)",
    "(",
    "'",
    "::",
]
SPACED = [
    "a", "R", "Keep", "valve", "shut", "retry_limit", "ZQ-0054", "getUserName", "e-mail", "5GB",
    "2026.4.10", "_", "__init__", "café", "cafe\u0301", "ÅNGSTRÖM", "Straße", "İstanbul", "ΟΔΟΣ",
    "Привет", "हिन्दी", "كِتَاب", "שלום", "ﬁn", "½", "𝔘𝔫𝔦", "𐐀𐐨", "ﬀ", "x" * 130,
]  # fmt: skip
UNSPACED = [
    "茶", "茶壶在厨房", "キッチン", "ｶﾞｷﾞ", "ภาษาไทย", "น้ำ", "한국어", normalize("NFD", "한국어"),
    "ខ្មែរ", "ພາສາ", "မြန်မာ", "𠮷野家", "〇々", "㋿",
]  # fmt: skip
EMOJI = ["🚰", "👩‍👩‍👧", "🇩🇪", "👍🏽", "1️⃣"]


def _texts(*pieces: list[str]) -> st.SearchStrategy[str]:
    """Texts of pieces from all groups, some of them long enough for many chunks."""
    piece = st.one_of(*(st.sampled_from(group) for group in pieces))
    short, long = st.lists(piece, max_size=8), st.lists(piece, min_size=25, max_size=100)
    return (short | long).map("".join)


_PLAIN = ["a ", "go on. ", "Keep valve shut.\n\n", "Open the hatch.\r\n", "one, two\n"]

words = st.sampled_from([*SPACED, *UNSPACED])
spaced_texts = _texts(SPACED, POINTS, BLANKS, BREAKS, EMOJI, MARKS[:3]) | st.text(max_size=30)
ascii_texts = _texts(
    [word for word in SPACED if word.isascii()], POINTS[:5], [" ", "\n", "\t", "-", "_", "./", "\0"]
) | st.text(st.characters(max_codepoint=127), max_size=60)
texts = st.one_of(
    _texts(SPACED, UNSPACED, BLANKS, BREAKS, POINTS, MARKS, INVISIBLE, CONTROLS, EMOJI),
    _texts(SPACED, [" "]),
    _texts(UNSPACED, POINTS),
    _texts(_PLAIN, BREAKS[:6]),
    st.text(max_size=200),
)

_MARKDOWN = [
    "# ", "## ", "###### ", "#", " ##", "---\n", "===\n", "+++\n", "```", "```\n", "~~~\n", "> ",
    "- ", "  - ", "1. ", "* * *\n", "    ", "\t", "|", "a|b\n-|-\nc|d\n", "<div>\n", "<!-- ",
    "-->\n", "[a]: /b\n", "{#id}", "\\", "`", "title: x\n",
]  # fmt: skip
_RST = [
    "====\n", "----\n", "~~~~\n", "====", "..", ".. note:: ", ".. code-block:: x\n\n", "::\n\n",
    "    ", "   ", "- ", "#. ", "| ", "+--+--+\n", "=== ===\n", ":field: ", "``", ">>> ", "\\",
    ".. _t:\n",
]  # fmt: skip
_CSV = [
    "a,b\n", "part;limit\r\n", "1,2\n", ",", ";", "|", "\t", '"', '""', '"x\ny",z\n', "sep=;\n",
]  # fmt: skip
_CODE = [
    "def f(a):\n", "class A:\n", "    def g(self):\n", "int main() {\n", "}\n", "function f() {\n",
    "create table t (\n", "# c\n", "/* c\n", "*/\n", "// c\n", "@d(\n", ")\n", '"""', "`", "    ",
    "\t", "x = 1\n", "return a\n", "end\n", "static int\n", "template <typename T>\n", "foo(a,\n",
    "=pod\n", "=cut\n",
]  # fmt: skip
_TITLES = ["Keep", "valve ", "茶壶", "x"]
markdown_texts = _texts(_MARKDOWN, _TITLES, BREAKS[:6], _PLAIN) | texts
csv_texts = _texts(_CSV, _TITLES, BREAKS[:6], _PLAIN) | texts
code_texts = _texts(_CODE, _TITLES, BREAKS[:6], _PLAIN) | texts
rst_texts = _texts(_RST, _TITLES, BREAKS[:6], _PLAIN) | texts


@st.composite
def chunkings(
    draw: st.DrawFn, strategies: tuple[str, ...] = ("structure", "fixed")
) -> ChunkingConfig:
    size = draw(st.integers(1, 12) | st.integers(1, 50))
    return ChunkingConfig.model_validate(
        {
            "strategy": draw(st.sampled_from(strategies)),
            "size": size,
            "overlap": draw(st.just(0) | st.integers(0, size - 1)),
            "unit": draw(st.sampled_from(["words", "characters"])),
        }
    )


unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""For properties of whole documents, on machines that have other work."""
