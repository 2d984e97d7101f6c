"""Sensitive values made up for a test, and the traces they would leave in what is sent."""

import json
import random
import string
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

__all__ = ["PLANTED", "Planted", "traces"]

_RANDOM = random.Random(20)
_ALPHABET = string.ascii_letters + string.digits


class Planted(NamedTuple):
    """A value of a kind within the sentence that a document holds."""

    kind: str
    value: str
    sentence: str


def _drawn(length: int, alphabet: str = _ALPHABET) -> str:
    return "".join(_RANDOM.choices(alphabet, k=length))


def _planted(kind: str, value: str, sentence: str) -> Planted:
    return Planted(kind, value, sentence.format(value))


def _pem(line: str) -> Planted:
    rows = "\n".join([line, *(_drawn(64) for _ in range(4)), _drawn(30) + "=="])
    label = "PRIVATE KEY"
    block = f"-----BEGIN {label}-----\n{rows}\n-----END {label}-----"
    return Planted("PRIVATE_KEY", line, f"The gate opens with this:\n\n```\n{block}\n```\n")


PLANTED = (
    _planted("EMAIL", "marta.kern@fir-sample.org", "Write to {} about deliveries."),
    _planted("PHONE", "+44 20 7946 0958", "The front desk answers at {}."),
    _planted("PHONE", "(415) 555-0123", "At night call {}."),
    _planted("CARD", "4111 1111 1111 1111", "Fuel is paid with {}."),
    _planted("CARD", "5500005555555559", "Tolls are paid with {}."),
    _planted("IBAN", "DE89 3704 0044 0532 0130 00", "Rent goes to {}."),
    _planted("IBAN", "GB82WEST12345698765432", "Wages come from {}."),
    _planted("US_SSN", "536-90-4399", "The keeper's SSN is {}."),
    _planted("IPV4", "203.0.113.77", "The printer listens at {}."),
    _planted("IPV6", "2001:db8:85a3::8a2e:370:7334", "The scanner listens at {}."),
    _planted("API_KEY", "AKIA" + _drawn(16, string.ascii_uppercase), "Backups use {}."),
    _planted("API_KEY", "ghp_" + _drawn(36), "The build uses {}."),
    _planted("API_KEY", f"xoxb-{_drawn(12, '123456789')}-{_drawn(24)}", "Alerts use {}."),
    _planted("API_KEY", "sk_live_" + _drawn(24), "The till uses {}."),
    _planted("API_KEY", "AIza" + _drawn(35), "The map uses {}."),
    _planted("JWT", f"eyJ{_drawn(17)}.eyJ{_drawn(40)}.{_drawn(43)}", "The session was {}."),
    _pem(_drawn(64)),
    _planted("SECRET", _drawn(14), "In the file stands password={} and no more."),
    _planted("SECRET", _drawn(32), "The client sends Authorization: Bearer {} each time."),
    _planted("URL_USERINFO", f"ledger:{_drawn(12)}", "Records lie at postgres://{}@db.example/x."),
)


def traces(value: str, sent: bytes) -> list[str]:
    """The forms in which a value stands in what was sent."""
    plain = value.encode()
    forms = {
        "plain": [plain],
        "JSON": [json.dumps(value)[1:-1].encode(), plain.replace(b"/", rb"\/")],
        "base64": [*_aligned(b64encode, plain), *_aligned(urlsafe_b64encode, plain)],
    }
    found = [name for name, spelt in forms.items() if any(form in sent for form in spelt)]
    unquoted = (unquote_to_bytes(sent), unquote_to_bytes(sent.replace(b"+", b" ")))
    return found + ["URL"] * any(plain in text for text in unquoted)


def _aligned(encode: Callable[[bytes], bytes], plain: bytes) -> Iterator[bytes]:
    """The characters that depend on the value alone, for each place of its first byte."""
    for before, spoilt in enumerate((0, 2, 3)):
        whole = (before + len(plain)) * 8 // 6
        yield encode(bytes(before) + plain)[spoilt:whole]
