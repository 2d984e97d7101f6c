"""Kinds of sensitive values and how each is found: a user's patterns, and the default ones."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Annotated, Any

import re2
from groundkit_core.contracts import Contract
from groundkit_core.errors import ConfigurationError
from pydantic import AfterValidator, ConfigDict, Field

from groundkit_providers import credentials, identifiers, phones

__all__ = ["DEFAULT_PATTERNS", "LITERAL", "Kind", "RedactionPattern"]

LITERAL = "LITERAL"
"""The kind of what only looks like a token."""

Finder = Callable[[str], Iterable[tuple[int, int]]]


def _not_reserved(name: str) -> str:
    if name == LITERAL:
        raise ValueError(f"{LITERAL} is the kind of text that looks like a token")
    return name


Kind = Annotated[str, Field(pattern=r"\A[A-Z][A-Z0-9_]*\z"), AfterValidator(_not_reserved)]


class RedactionPattern(Contract):
    """A kind and the RE2 expression that finds its values."""

    model_config = ConfigDict(hide_input_in_errors=True)

    name: Kind
    pattern: str

    def model_post_init(self, _context: Any, /) -> None:
        """Refuse an expression that cannot be used."""
        try:
            compiled = _compiled(self.pattern)
        except (re2.error, UnicodeEncodeError) as error:
            reason = error.args[0] if isinstance(error, re2.error) else "is no valid Unicode"
            raise ConfigurationError(f"redaction pattern {self.name}: {_words(reason)}") from None
        if compiled.fullmatch("") is not None:
            raise ConfigurationError(f"redaction pattern {self.name}: matches the empty string")

    def spans(self, text: str) -> Iterable[tuple[int, int]]:
        """Where its values stand, in code points."""
        return (match.span() for match in _compiled(self.pattern).finditer(text))


class _DefaultPattern(RedactionPattern):
    """A kind whose values are found and checked by a function."""

    pattern: str = "built in"
    find: Finder = Field(repr=False)

    def model_post_init(self, _context: Any, /) -> None:
        """There is no expression to check."""

    def spans(self, text: str) -> Iterable[tuple[int, int]]:
        return self.find(text)


DEFAULT_PATTERNS: tuple[RedactionPattern, ...] = tuple(
    _DefaultPattern(name=name, find=find)
    for name, find in (
        ("EMAIL", identifiers.emails),
        ("PHONE", phones.phones),
        ("IPV4", identifiers.ipv4_addresses),
        ("IPV6", identifiers.ipv6_addresses),
        ("CARD", identifiers.cards),
        ("IBAN", identifiers.ibans),
        ("US_SSN", identifiers.social_security_numbers),
        ("API_KEY", credentials.api_keys),
        ("JWT", credentials.json_web_tokens),
        ("SECRET", credentials.secrets),
        ("PRIVATE_KEY", credentials.private_keys),
        ("URL_USERINFO", credentials.url_userinfo),
    )
)
"""The kinds that are found unless a configuration leaves them out."""


@lru_cache
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)


def _words(reason: object) -> str:
    return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
