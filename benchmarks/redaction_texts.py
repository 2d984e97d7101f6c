"""Texts whose sensitive values are known: two published sets, and a seeded generator."""

import gzip
import json
import random
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.report import BenchmarkError

__all__ = ["Gold", "Text", "generated", "published"]

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
PUBLISHED = {"presidio": "pii_presidio_synth_v2", "polish": "pii_polish_bench"}
LABELS = {
    "e-mail": ("EMAIL_ADDRESS", "EMAIL"),
    "card": ("CREDIT_CARD", "PAYMENT_CARD"),
    "IBAN": ("IBAN_CODE", "IBAN"),
    "phone": ("PHONE_NUMBER", "PHONE"),
    "US SSN": ("US_SSN",),
    "IP address": ("IP_ADDRESS",),
    "person": ("PERSON",),
    "organisation": ("ORGANIZATION", "ORG"),
    "address": ("STREET_ADDRESS", "GPE", "ZIP_CODE", "LOC", "POSTAL"),
    "other identifier": (
        *("US_DRIVER_LICENSE", "DRIVING_LICENSE", "NIP", "PESEL", "REGON", "DOWOD", "PASSPORT"),
        *("VEHICLE_PLATE", "VIN"),
    ),
}
KINDS = {label: kind for kind, labels in LABELS.items() for label in labels}


@dataclass(frozen=True)
class Gold:
    """A value that must not survive."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True)
class Text:
    """A text, where it is from, and what is sensitive in it."""

    origin: str
    text: str
    gold: tuple[Gold, ...]


def published() -> list[Text]:
    """Every text of the two published sets; what they say to keep, dates and titles are no gold."""
    return [_text(origin, row) for origin in PUBLISHED for row in _rows(origin)]


def _rows(origin: str) -> Iterator[dict[str, Any]]:
    path = DATA / PUBLISHED[origin] / "data.jsonl.gz"
    if not path.exists():
        raise BenchmarkError(f"{path.name} of {PUBLISHED[origin]} is not in ../shared/data")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _text(origin: str, row: dict[str, Any]) -> Text:
    gold = []
    for span in row["spans"]:
        kind = KINDS.get(span["label"])
        if kind is not None and span.get("protection") != "keep":
            # Some spans begin with a label such as `IBAN: `, which may stay.
            label, colon, value = span["value"].partition(": ")
            skipped = len(label) + 2 if colon and value and kind not in ("person", "address") else 0
            gold.append(Gold(kind, span["start"] + skipped, span["end"]))
    return Text(origin, row["text"], tuple(gold))


SENTENCES = [
    "{}", "Please write it down: {}.", "It is {} as far as we know", "({})", "- {}\n- see above",
    '{{"value": "{}", "n": 3}}', "id;{};open", "We had {}, then none.", "Contact\n{}\nThanks",
    "<td>{}</td>", "> {}\n> was in the last message", "Is {} right?", "old={} new=none",
    "Ask for {} when you arrive; the desk is open from 9 to 17.", "«{}»", "On file: {} (checked)",
]  # fmt: skip
PHONE_SENTENCES = [*SENTENCES, "Phone: {}", "call me on {}", "Tel. {}", "mobile {} or by post"]
REGION_LIST = (
    "US CA GB IE DE AT CH FR BE NL IT ES PT PL CZ SK HU RO SE NO DK FI GR TR IN JP KR AU NZ BR MX "
    "AR ZA IL SG HK"
)
IBANS = {
    "DE": "n18", "FR": "n10c11n2", "GB": "a4n14", "NL": "a4n10", "PL": "n24", "ES": "n20",
    "IT": "a1n10c12", "CH": "n5c12", "SE": "n20", "BE": "n12", "NO": "n11", "PT": "n21",
    "MT": "a4n5c18", "AE": "n19",
}  # fmt: skip
CARDS = {
    "4": (13, 16, 19), "51": (16,), "2221": (16,), "34": (15,), "37": (15,), "36": (14,),
    "3528": (16,), "6011": (16,), "62": (16, 17, 18, 19), "5018": (12, 16), "6304": (12, 13, 16),
}  # fmt: skip
LABEL_END = "\0"
"""Stands in a made value after what names it and may stay, such as `password=`."""
UPPER = string.ascii_uppercase
LOWER_HEX = "0123456789abcdef"
ALNUM = string.ascii_letters + string.digits
Make = Callable[[random.Random], str]


def generated(each: int, seed: int = 0) -> list[Text]:
    """`each` texts of every kind of value, and of every kind of look-alike."""
    rng = random.Random(seed)
    texts = []
    for kind, makers in _makers().items():
        sentences = PHONE_SENTENCES if kind == "phone" else SENTENCES
        for number in range(each):
            value = makers[number % len(makers)](rng)
            before, after = rng.choice(sentences).replace("{{", "{").replace("}}", "}").split("{}")
            label, _, value = value.rpartition(LABEL_END)
            before += label
            gold = (Gold(kind, len(before), len(before) + len(value)),)
            texts.append(Text("generated", before + value + after, gold))
    for number in range(2 * each):
        value = LOOKALIKES[number % len(LOOKALIKES)](rng)
        texts.append(Text("generated", rng.choice(SENTENCES[:4]).format(value), ()))
    return texts


def _makers() -> dict[str, list[Make]]:
    return {
        "e-mail": [_email],
        "phone": _phones(),
        "card": [partial(_card, separator=separator) for separator in ("", " ", "-")],
        "IBAN": [partial(_iban, spaced=spaced) for spaced in (False, True)],
        "US SSN": [
            lambda rng: (
                f"{rng.randint(1, 665):03}-{rng.randint(1, 99):02}-{rng.randint(1, 9999):04}"
            )
        ],
        "IP address": [_ipv4, _ipv6],
        "key or token": [partial(_key, prefix, size, chars) for prefix, size, chars in KEYS],
    }


def _of(rng: random.Random, characters: str, size: int) -> str:
    return "".join(rng.choices(characters, k=size))


def _email(rng: random.Random) -> str:
    name = [_of(rng, string.ascii_lowercase, rng.randint(1, 8)) for _ in range(rng.randint(1, 3))]
    local = rng.choice(".-_+").join(name) + rng.choice(["", str(rng.randint(1, 99))])
    labels = [_of(rng, string.ascii_lowercase, rng.randint(2, 9)) for _ in range(rng.randint(1, 3))]
    address = f"{local}@{'.'.join(labels)}.{rng.choice(['com', 'co.uk', 'org', 'de', 'museum'])}"
    return rng.choice([address, address, address.upper(), address.title()])


def _card(rng: random.Random, separator: str) -> str:
    prefix = rng.choice(list(CARDS))
    length = rng.choice(CARDS[prefix])
    body = prefix + _of(rng, string.digits, length - len(prefix) - 1)
    number = next(body + digit for digit in string.digits if luhn(body + digit))
    sizes = (4, 6, 5) if length in (14, 15) else (4, 4, 4, 4, 3)
    ends = [sum(sizes[: at + 1]) for at in range(len(sizes))]
    parts = [number[end - size : end] for end, size in zip(ends, sizes, strict=True)]
    return separator.join(filter(None, parts))


def luhn(number: str) -> bool:
    """Whether the digits pass the check of payment cards."""
    table = "0246813579"
    turned = number[::-1]
    return (sum(map(int, turned[::2])) + sum(int(table[int(d)]) for d in turned[1::2])) % 10 == 0


def _iban(rng: random.Random, spaced: bool) -> str:
    country = rng.choice(list(IBANS))
    alphabets = {"n": string.digits, "a": string.ascii_uppercase, "c": string.digits}
    account, form = "", IBANS[country]
    while form:
        size = "".join(character for character in form[1:3] if character.isdigit())
        account += _of(rng, alphabets[form[0]], int(size))
        form = form[1 + len(size) :]
    rest = int("".join(str(int(c, 36)) for c in f"{account}{country}00")) % 97
    number = f"{country}{98 - rest:02}{account}"
    number = number.lower() if rng.random() < 0.2 else number
    return " ".join(number[at : at + 4] for at in range(0, 40, 4)).strip() if spaced else number


def _phones() -> list[Make]:
    """A form of a region's example number whose last digits are drawn."""
    library: Any = import_module("phonenumbers")
    formats, types = library.PhoneNumberFormat, library.PhoneNumberType
    wanted = (formats.E164, formats.INTERNATIONAL, formats.NATIONAL)

    def phone(rng: random.Random) -> str:
        region = rng.choice(REGION_LIST.split())
        of_type = rng.choice([types.MOBILE, types.FIXED_LINE])
        number = library.example_number_for_type(region, of_type)
        drawn = library.PhoneNumber()
        drawn.merge_from(number)
        drawn.national_number = number.national_number // 1000 * 1000 + rng.randint(0, 999)
        number = drawn if library.is_valid_number(drawn) else number
        written: str = library.format_number(number, rng.choice(wanted))
        return written.replace(" ", rng.choice("   -."))

    return [phone]


def _ipv4(rng: random.Random) -> str:
    return ".".join(str(rng.randint(1, 254)) for _ in range(4))


def _ipv6(rng: random.Random) -> str:
    groups = [f"{rng.randint(0x1000, 0xFFFF):x}" for _ in range(8)]
    return rng.choice(
        [":".join(groups), f"2001:db8::{groups[0]}:{groups[1]}", f"fe80::1:{groups[2]}"]
    )


KEYS = [
    ("AKIA", 16, UPPER + string.digits), ("ghp_", 36, ALNUM), ("sk_live_", 24, ALNUM),
    ("github_pat_", 60, ALNUM), ("xoxb-123456789012-", 24, ALNUM), ("AIza", 35, ALNUM + "-_"),
    ("sk-proj-", 48, ALNUM), ("sk-ant-api03-", 80, ALNUM + "-_"), ("glpat-", 20, ALNUM),
    ("npm_", 36, ALNUM), ("hf_", 34, ALNUM), ("eyJhbGciOiJIUzI1NiJ9.eyJ", 60, ALNUM),
    ("Bearer \0", 32, ALNUM), ("password=\0", 12, ALNUM + "!$%^*"), ("api_key: \0", 24, ALNUM),
]  # fmt: skip


def _key(prefix: str, size: int, characters: str, rng: random.Random) -> str:
    drawn = _of(rng, characters, size)
    return f"{prefix}{drawn[:20]}.{drawn[20:]}" if prefix.startswith("eyJ") else prefix + drawn


LOOKALIKES: list[Make] = [
    lambda rng: "commit " + _of(rng, LOWER_HEX, 40),
    lambda rng: "sha256 " + _of(rng, LOWER_HEX, 64),
    lambda rng: "v" + ".".join(str(rng.randint(0, 40)) for _ in range(4)),
    lambda rng: "version " + ".".join(str(rng.randint(0, 40)) for _ in range(4)),
    lambda rng: f"release {rng.randint(0, 9)}.{rng.randint(0, 30)}.{rng.randint(0, 30)}",
    lambda rng: f"SKU {rng.randint(100, 999)}-{rng.randint(100, 999)}-{rng.randint(1000, 9999)}-1",
    lambda rng: f"order {rng.randint(10**7, 10**8)}",
    lambda rng: f"order no. {rng.randint(10**9, 10**10)}",
    lambda rng: f"customer {rng.randint(10**9, 10**10)}",
    lambda rng: f"{rng.choice(['transaction', 'receipt', 'claim'])} {rng.randint(10**9, 10**10)}",
    lambda rng: f"ORD-{rng.randint(2000, 2030)}-{rng.randint(10**5, 10**6)}",
    lambda rng: f"20{rng.randint(10, 30)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02} 11:34:35",
    lambda rng: f"{rng.randint(1, 28):02}.{rng.randint(1, 12):02}.20{rng.randint(10, 30)}",
    lambda rng: f"${rng.randint(1, 999)},{rng.randint(0, 999):03}.{rng.randint(0, 99):02}",
    lambda rng: f"{rng.randint(1, 99)} {rng.randint(0, 999):03} {rng.randint(0, 999):03} EUR",
    lambda rng: f"{rng.randint(300, 900)}.{rng.randint(1, 9)}.{rng.randint(1, 9)}.1",
    lambda rng: f"pages {rng.randint(1000, 2000)}-{rng.randint(2001, 3000)}",
    lambda rng: (
        f"{_of(rng, LOWER_HEX, 8)}-{_of(rng, LOWER_HEX, 4)}-4{_of(rng, LOWER_HEX, 3)}-"
        f"a{_of(rng, LOWER_HEX, 3)}-{_of(rng, LOWER_HEX, 12)}"
    ),
    lambda rng: f"17{rng.randint(10**7, 10**8 - 1)}{rng.choice(['', '123'])}",
    lambda rng: f"ISBN 978-3-16-{rng.randint(100000, 999999)}-{rng.randint(0, 9)}",
    lambda rng: "".join(_of(rng, string.ascii_lowercase, 6).title() for _ in range(7)),
    lambda rng: f"tool@{rng.randint(0, 9)}.{rng.randint(0, 30)}.1",
    lambda rng: f"part {rng.randint(10, 99)}-{rng.randint(1000, 9999)}-{rng.randint(100, 999)}",
    lambda rng: f"{rng.random():.16f}",
    lambda rng: f"12:{rng.randint(10, 59)}:{rng.randint(10, 59)} and row {rng.randint(1, 10**6)}",
]
