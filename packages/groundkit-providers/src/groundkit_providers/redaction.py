"""Replaces sensitive values by tokens such as `[EMAIL_1]`, and tokens by their values."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property

from groundkit_core.contracts import Contract
from groundkit_core.errors import ConfigurationError
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from groundkit_providers.names import NameDetector, NameList
from groundkit_providers.patterns import DEFAULT_PATTERNS, LITERAL, Kind, RedactionPattern

__all__ = [
    "DEFAULT_PATTERNS",
    "RedactionConfig",
    "RedactionPattern",
    "RedactionResult",
    "Redactor",
    "find_spans",
]

NAMES_KIND = "PERSON"
Found = tuple[int, int, str]

# A model may write a token in lower case or escape it as Markdown does: `\[email\_1\]`.
_IN_BRACKETS = re.compile(
    r"\\\[([A-Za-z](?:[A-Za-z0-9_]|\\_)*+)\\\]|\[([A-Za-z](?:[A-Za-z0-9_]|\\_)*+)\]"
)
_TOKEN_NAME = re.compile(r"[A-Z][A-Z0-9_]*_[1-9][0-9]*")
_KIND = TypeAdapter(Kind)


class RedactionConfig(Contract):
    """What is redacted: kinds with patterns, listed names, and what a detector finds."""

    model_config = ConfigDict(arbitrary_types_allowed=True, hide_input_in_errors=True)

    patterns: tuple[RedactionPattern, ...] = DEFAULT_PATTERNS
    names: tuple[str, ...] = Field(default=(), repr=False)
    detector: NameDetector | None = None

    @cached_property
    def _name_list(self) -> NameList:
        return NameList(self.names)

    def model_post_init(self, _context: object, /) -> None:
        """Refuse a name that cannot be found."""
        _ = self._name_list


class RedactionResult(Contract):
    """The text with tokens, and how many values of each kind they stand for."""

    text: str = Field(repr=False)
    counts: dict[str, int]


class Redactor:
    """Redacts the texts of one call; equal values get one token, and only its own are restored."""

    def __init__(self, config: RedactionConfig | None = None) -> None:
        self._config = config if config is not None else RedactionConfig()
        self._tokens: dict[tuple[str, str], str] = {}
        self._values: dict[str, str] = {}
        self._numbers: Counter[str] = Counter()

    def redact(self, text: str) -> RedactionResult:
        """The text with each value, and whatever looks like a token, replaced."""
        pieces: list[str] = []
        counts: Counter[str] = Counter()
        at = 0
        for start, end, kind in find_spans(text, self._config):
            pieces += text[at:start], self._token(kind, text[start:end])
            counts[kind] += kind != LITERAL
            at = end
        return RedactionResult(text="".join([*pieces, text[at:]]), counts=dict(+counts))

    def restore(self, text: str) -> str:
        """The text with this redactor's tokens replaced by their values."""
        return _IN_BRACKETS.sub(
            lambda match: self._values.get(_token_name(match), match[0]),
            text,
        )

    def _token(self, kind: str, value: str) -> str:
        token = self._tokens.get((kind, value))
        if token is None:
            self._numbers[kind] += 1
            name = f"{kind}_{self._numbers[kind]}"
            token = self._tokens[kind, value] = f"[{name}]"
            self._values[name] = value
        return token


def find_spans(text: str, config: RedactionConfig) -> list[Found]:
    """What is replaced, in order: overlapping spans as one, of the kind of the longest."""
    found = sorted(_found(text, config), key=lambda span: (span[0], -span[1]))
    merged: list[list[Found]] = []
    reached = 0
    for span in found:
        if merged and span[0] < reached:
            merged[-1].append(span)
        else:
            merged.append([span])
        reached = max(reached, span[1])
    return [_union(spans) for spans in merged]


def _union(spans: list[Found]) -> Found:
    """A literal gives its name only where nothing else was found."""
    named = max(spans, key=lambda span: (span[2] != LITERAL, span[1] - span[0]))
    return spans[0][0], max(end for _, end, _ in spans), named[2]


def _found(text: str, config: RedactionConfig) -> Iterator[Found]:
    for match in _IN_BRACKETS.finditer(text):
        if _TOKEN_NAME.fullmatch(_token_name(match)):
            yield *match.span(), LITERAL
    # RE2 and detectors take UTF-8, which has no lone surrogates; the offsets stay.
    text = text.encode("utf-8", "replace").decode("utf-8")
    for pattern in config.patterns:
        yield from ((start, end, pattern.name) for start, end in pattern.spans(text) if start < end)
    yield from ((start, end, NAMES_KIND) for start, end in config._name_list.spans(text))
    if config.detector is not None:
        yield from _checked(config.detector, text)


def _checked(detector: NameDetector, text: str) -> Iterator[Found]:
    for start, end, kind in detector.detect(text):
        if not 0 <= start < end <= len(text):
            raise ConfigurationError(
                f"the name detector gave the span {start}..{end} of {len(text)} characters"
            )
        try:
            _KIND.validate_python(kind)
        except ValidationError:
            raise ConfigurationError("the name detector gave a kind that names no token") from None
        yield start, end, kind


def _token_name(match: re.Match[str]) -> str:
    return (match[1] or match[2]).replace("\\", "").upper()
