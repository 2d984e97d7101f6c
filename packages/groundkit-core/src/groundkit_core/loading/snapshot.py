"""What a URL gave when it was fetched."""

from dataclasses import dataclass

__all__ = ["Snapshot"]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A URL's body, kept so that citations of it can be checked.

    `url` is the source, as asked and without a fragment; `final_url` is where it led; `fetched` is
    the time in UTC, `charset` what the server declared.
    """

    url: str
    final_url: str
    media_type: str
    charset: str | None
    body: bytes
    fetched: str
