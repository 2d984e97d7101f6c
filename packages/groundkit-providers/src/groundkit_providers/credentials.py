"""Keys, tokens, passwords, private keys and the user part of a URL.

Each expression either consumes a whole run of its characters or starts only where one begins, so
every search is linear in the text.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise

__all__ = ["api_keys", "json_web_tokens", "private_keys", "secrets", "url_userinfo"]

Spans = Iterator[tuple[int, int]]

_API_KEY = re.compile(
    r"""
    (?<![A-Za-z0-9])(?:
      (?:AKIA|ASIA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])
    | gh[oprsu]_[A-Za-z0-9]{20,}+ | github_pat_\w{20,}+ | glpat-[\w-]{16,}+
    | xox[a-z]-[A-Za-z0-9-]{10,}+ | xapp-[A-Za-z0-9-]{10,}+
    | (?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}+ | whsec_[A-Za-z0-9+/]{16,}+=*+
    | AIza[\w-]{30,}+ | ya29\.[\w.-]{20,}+ | GOCSPX-[\w-]{20,}+
    | sk-[\w-]{20,}+
    | npm_[A-Za-z0-9]{30,}+ | pypi-[\w-]{40,}+ | hf_[A-Za-z0-9]{30,}+ | dop_v1_[a-f0-9]{64}
    | SG\.[\w-]{16,}+\.[\w-]{16,}+
    )
    | (?<=hooks\.slack\.com/services/)[\w/]{20,}+
    """,
    re.VERBOSE | re.ASCII,
)
_JWT = re.compile(r"(?<![\w-])eyJ[\w-]++\.[\w-]++(?:\.[\w-]*+){0,3}+", re.ASCII)

_BEARER = re.compile(r"\bbearer[ \t]{1,4}([\w.~+/-]++=*+)", re.IGNORECASE | re.ASCII)
_AUTHORIZATION = re.compile(
    r"\bauthorization[\"'\\]{0,2}[ \t]{0,4}[:=][ \t]{0,4}[\"'\\]{0,2}"
    r"(?:basic|bearer|token|apikey)[ \t]{1,4}([^\s\"'\\]++)",
    re.IGNORECASE,
)
# A value that is not quoted ends at a blank, or at what begins the next field.
_ASSIGNED = re.compile(
    r"""
    (?: (?P<password> password | passwd | passphrase | passcode | pwd | (?<![A-Za-z])pass )
      | (?P<key> (?:api|access|account|secret|private|encryption)[ _-]?key | client[_-]?secret )
      | secret | token | credential )
    (?:s|\d{1,3})? (?:[_-][\w-]{0,24}+)? [\\"'\]*`]{0,4}+ [ \t]{0,4}+
    (?P<sign> => | :=? | ={1,2} | is(?=[ \t]) ) (?:\*\*|`)? [ \t]{0,4}+
    (?P<value> `[^`\n]++` | "(?:[^"\\\n]|\\.)*+" | '(?:[^'\\\n]|\\.)*+'
      | \\"(?:[^"\\\n]|\\[^"\n])*+\\" | \\'(?:[^'\\\n]|\\[^'\n])*+\\'
      | (?: [^\s&;,] | [&;](?![ \t]{0,2}\w{1,30}=|\s|\Z) | ,(?!\s|\Z) )++ )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"""
    [\\"'(\[{<]*
    (?: none | null | nil | true | false | undefined | str(?:ing)? | int(?:eger)? | bool(?:ean)?
      | bytes | any | object | optional\b.* | required | missing | invalid | incorrect | expired
      | empty | unset | default | changed | secretstr | not | the | an? | [*.x…]+ )?
    [\\"')\]}>.,:;!?]*
    | \$\{.* | (?-i:\$[A-Z_][A-Z0-9_]*) | \$\(.* | <[\w -]*>? | \{\{.* | \{\w*\} | %s | %\(.*
    | [A-Za-z_][\w.]{2,}(?: \((?:["')].*)? | \[["'].* )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_MIXED = re.compile(r"(?<![\w+/=.-])[\w+/-]{32,}+={0,2}+(?![\w+/-])", re.ASCII)
_HASH = re.compile(r"sha(?:1|256|384|512)-", re.IGNORECASE)

_PEM_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_BODY = re.compile(
    r"""
    (?: (?:\s|>|\\[nrt])*+
      (?: [A-Za-z][A-Za-z-]{2,20}:[ ][^\n]*+\n
        | [A-Za-z0-9+/=]{16,}+ | [A-Za-z0-9+/]++(?:={1,2}|\Z|(?=\s+-)) | [A-Za-z-]{2,20}(?::.*)?\Z )
    )*+
    (?: (?:\s|\\[nrt])*+ -[-A-Z ]{0,60}\Z )?
    """,
    re.VERBOSE,
)
_PEM_LINE = re.compile(r"[\s>]*+[A-Za-z0-9+/=\\]{16,}+\s*+")
_PEM_LAST_LINE = re.compile(r"[\s>]*+[A-Za-z0-9+/=\\]*+\s*+")
_PEM_LONGEST = 20_000

_SCHEME_USERINFO = re.compile(r"(?<=://)[^\s/?#\"'<>@]*+(?:@[^\s/?#\"'<>@]*+)++")
_SLASHED_USERINFO = re.compile(
    r"(?<=://)[\w.%+-]{1,64}+:(?!\d{1,5}/)[^\s@\"'<>]{1,128}+@[\w.-]++", re.ASCII
)
_BARE_USERINFO = re.compile(
    r"(?<![\w.@:/%+-])(?!(?:mailto|sips?|xmpp|e?-?mail|to|from|cc|bcc):)"
    r"[\w.%+-]{1,64}+:[^\s:@/\"'<>]{1,128}+@(?!sha\d{3}:)[\w.-]++",
    re.ASCII,
)


def api_keys(text: str) -> Spans:
    """Keys of known services by their prefix."""
    for match in _API_KEY.finditer(text):
        # What begins with `sk-` may be words joined by hyphens.
        if not match[0].startswith("sk-") or any(map(str.isdigit, match[0])):
            yield match.span()


def json_web_tokens(text: str) -> Spans:
    """Signed and encrypted tokens in compact form."""
    return (match.span() for match in _JWT.finditer(text))


def secrets(text: str) -> Spans:
    """Values sent or assigned as a secret, and long mixtures of letters and digits."""
    for match in _BEARER.finditer(text):
        value = match[1]
        if len(value) >= 16 or (len(value) >= 6 and any(map(str.isdigit, value))):
            yield match.span(1)
    for match in _AUTHORIZATION.finditer(text):
        yield match.span(1)
    for match in _ASSIGNED.finditer(text):
        if _is_secret(match):
            yield match.span("value")
    for match in _MIXED.finditer(text):
        if _is_random(match[0]) and not _HASH.match(match[0]):
            yield match.span()


def _is_secret(match: re.Match[str]) -> bool:
    value, sign = match["value"], match["sign"].lower()
    if _PLACEHOLDER.fullmatch(value):
        return False
    has_digit = any(map(str.isdigit, value))
    if sign == "is":
        return has_digit and len(value) >= 6
    if match["password"]:
        return True
    if match["key"]:
        return sign != ":" or value[0] in "\\\"'" or has_digit or len(value) >= 12
    return has_digit and len(value) >= 6 and not value.isdecimal()


def _is_random(value: str) -> bool:
    """Whether letters and digits change as often as in a drawn key, unlike in words or hashes."""
    if len(value) > 512 or value.count("-") + value.count("/") > len(value) // 8:
        return False
    kinds = ["a" if c.islower() else "A" if c.isupper() else "0" for c in value]
    if min(map(kinds.count, "aA0")) < 3:
        return False
    return sum(a != b for a, b in pairwise(kinds)) >= 0.45 * len(kinds)


def private_keys(text: str) -> Spans:
    """PEM blocks, also those that lack their beginning or their end."""
    ends = [match.span() for match in _PEM_END.finditer(text)]
    begins = [match.span() for match in _PEM_BEGIN.finditer(text)]
    yield from _begun_blocks(text, begins, dict(ends))
    floor = 0
    for start, end in ends:
        yield _block_head(text, start, floor), end
        floor = end


def _begun_blocks(text: str, begins: list[tuple[int, int]], ends: dict[int, int]) -> Spans:
    starts = sorted(ends)
    for number, (start, header_end) in enumerate(begins):
        following = begins[number + 1][0] if number + 1 < len(begins) else len(text)
        at = bisect_left(starts, header_end)
        if at < len(starts) and starts[at] < min(following, header_end + _PEM_LONGEST):
            yield start, ends[starts[at]]
        else:
            body = _PEM_BODY.match(text, header_end, following)
            yield start, body.end() if body else header_end


def _block_head(text: str, end: int, floor: int) -> int:
    """Where the lines of base64 before a block's last line begin."""
    head, line = end, _PEM_LAST_LINE
    while head > floor:
        start = max(floor, text.rfind("\n", floor, head - 1) + 1)
        if not line.fullmatch(text, start, head):
            break
        head, line = start, _PEM_LINE
    return head


def url_userinfo(text: str) -> Spans:
    """`user:password@host`, behind a scheme also a user or token alone."""
    for pattern in (_SCHEME_USERINFO, _SLASHED_USERINFO, _BARE_USERINFO):
        for match in pattern.finditer(text):
            yield match.span()
