"""Arguments for the tools, as JSON text: good ones, nearly good ones, and any JSON at all."""

import json
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

__all__ = ["EXOTIC", "GOOD", "KNOWN", "calls", "texts"]

KNOWN = "<an id>"
"""Stands for the id of a passage that there is."""
GOOD: dict[str, dict[str, list[Any]]] = {
    "search": {
        "query": ["valve", "?!", "\u2028", "厨房", "valve " * 600],
        "collection": ["default", None],
        "top_k": [1, 100],
        "mode": ["bm25", "dense", "hybrid"],
        "where": [{"key": "source", "prefix": "docs/"}, {"key": "year", "at_least": 2**53}],
        "per_document": [1],
        "near_duplicates": [0.8, 1, 5e-324],
        "verify": [True, False],
        "highlight": [True],
    },
    "fetch_chunk": {
        "chunk_id": [KNOWN],
        "collection": ["default"],
        "before": [0, 1000],
        "after": [0, 1000],
        "verify": [False],
    },
    "list_collections": {"cursor": [None]},
    "index_status": {"collection": ["default"]},
}
NEARLY_GOOD: dict[str, list[Any]] = {
    "query": ["", "  ", "valve " * 900],
    "collection": ["absent", "../default", "", "a/b"],
    "chunk_id": ["0" * 32, "", "a\u0000b"],
    "top_k": [0, 101, 2**70],
    "mode": ["magic"],
    "where": [{"key": "nothing", "equals": 1}, {"none_of": []}, {"key": "year", "at_least": "x"}],
    "near_duplicates": [0, 2],
    "before": [-1, 1001],
    "cursor": ["", "e30", "=", "é", "A" * 1000, "A" * 1001],
}
REQUIRED = {"search": "query", "fetch_chunk": "chunk_id"}
EXOTIC = ["1e999", "-1e999", "NaN", "-Infinity", "1" * 4300, "1" * 5000, "0." + "1" * 5000, "-0.0"]
EXOTIC += ["[" * depth + "]" * depth for depth in (30, 150, 300, 10_000)]
EXOTIC += ['{"all_of":[' * depth + "]}" * depth for depth in (21, 60)]
EXOTIC += ['"\\ud800"', '"\\udc00\\ud800"', '"\\u0000"', '{"a":1,"a":2}', '{"":{"__proto__":1}}']

texts = st.text(st.characters(), max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["key", "equals", "all_of"]) | texts, inner, max_size=3)
    ),
    max_leaves=8,
)
raw_values = values.map(json.dumps) | st.sampled_from(EXOTIC)


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, str]:
    """A tool with arguments as JSON text, most of them near what it takes."""
    tool = draw(st.sampled_from(sorted(GOOD)))
    if draw(st.integers(0, 9)) == 0:
        return tool, draw(raw_values)
    chosen = draw(st.sets(st.sampled_from(sorted({*GOOD[tool], "cursor"})), max_size=3))
    if tool in REQUIRED and draw(st.integers(0, 9)):
        chosen.add(REQUIRED[tool])
    pairs = [(json.dumps(name), draw(_value(tool, name))) for name in sorted(chosen)]
    if draw(st.integers(0, 4)) == 0:
        pairs.append((json.dumps(draw(texts)), draw(raw_values)))
    return tool, "{" + ",".join(f"{name}:{value}" for name, value in pairs) + "}"


def _value(tool: str, name: str) -> SearchStrategy[str]:
    good = st.sampled_from(GOOD[tool].get(name, [None])).map(json.dumps)
    nearly = st.sampled_from(NEARLY_GOOD.get(name, [0])).map(json.dumps)
    return st.integers(0, 9).flatmap(
        lambda die: raw_values if die == 9 else nearly if die == 8 else good
    )
