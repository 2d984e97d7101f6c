"""URLs of documents: their one written form, which may be fetched, and lists of them."""

import ipaddress
import re
from collections.abc import Collection
from pathlib import Path
from urllib.parse import urlsplit

from groundkit_core.errors import ConfigurationError

from groundkit_providers.http import canonical_url
from groundkit_providers.scrub import scrubbed

__all__ = ["allowed_hosts", "check_url", "host_key", "is_allowed", "read_url_list", "shown"]

_NAME = re.compile(r"[a-z0-9_-][a-z0-9._-]*")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_ENTRY = re.compile(r"(\[[^\[\]]+\]|[^:\[\]/?#@\\]+)(?::([0-9]{1,5}))?")
_PORTS = {"http": 80, "https": 443}
_MAX_SHOWN = 200


def check_url(url: str) -> str:
    """The one written form of a document's URL, without its fragment; refuses any other URL."""
    found = canonical_url(url.strip(" ")) or ""
    if problem := _problem(found):
        raise ConfigurationError(f"{_fit_to_show(url)}: {problem}")
    return found


def shown(url: str) -> str:
    """A checked URL as messages show it: without its query, and not too long."""
    parts = urlsplit(url)
    text = f"{parts.scheme}://{parts.netloc}{parts.path}"
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"


def read_url_list(path: Path) -> list[str]:
    """The URLs in a UTF-8 file, one a line, each once; blank lines and `#` lines are skipped."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as failure:
        reason = getattr(failure, "strerror", None) or "it is not UTF-8"
        raise ConfigurationError(f"{path}: {reason}") from None
    found: dict[str, None] = {}
    for number, line in enumerate(map(str.strip, lines), 1):
        if not line or line.startswith("#"):
            continue
        try:
            found[check_url(line)] = None
        except ConfigurationError as refused:
            raise ConfigurationError(f"{path}:{number}: {refused}") from None
    return list(found)


def host_key(url: str) -> str:
    """The host of a checked URL, the same for each way to write it."""
    host = urlsplit(url).hostname or ""
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return host.rstrip(".")


def allowed_hosts(entries: Collection[str]) -> frozenset[tuple[str, int | None]]:
    """Hosts that an operator names, each as `HOST` or `HOST:PORT`."""
    return frozenset(map(_allowed_host, entries))


def is_allowed(url: str, allowed: Collection[tuple[str, int | None]]) -> bool:
    """Whether the host of a checked URL, at its port, is one of `allowed`."""
    parts = urlsplit(url)
    port = parts.port or _PORTS[parts.scheme]
    return (host_key(url), None) in allowed or (host_key(url), port) in allowed


def _allowed_host(entry: str) -> tuple[str, int | None]:
    try:
        host, port = f"[{ipaddress.IPv6Address(entry)}]", None
    except ValueError:
        found = _ENTRY.fullmatch(entry)
        host, port = (found[1], found[2]) if found else ("", None)
    url = canonical_url(f"http://{host}:{port or 80}/") or ""
    if _problem(url):
        problem = "is no host name or address, with or without a port"
        raise ConfigurationError(f"--allow-host: {_fit_to_show(entry)} {problem}")
    return host_key(url), int(port) if port else None


def _problem(url: str) -> str:
    try:
        parts = urlsplit(url) if url else None
    except ValueError:
        parts = None
    if parts is None:
        return "it is no URL"
    if parts.scheme not in _PORTS:
        return "it must begin with http:// or https://"
    if not parts.hostname:
        return "it names no host"
    if "@" in parts.netloc:
        return "it holds credentials, and documents are fetched without any"
    try:
        if parts.port == 0:
            return "there is no port 0"
    except ValueError:
        return "there is no such port"
    return "" if _is_host(parts.hostname) else "its host is no name and no address"


def _is_host(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
        return "%" not in host
    except ValueError:
        # What ends in a number is read as an address by some resolvers, in several ways.
        last = host.rstrip(".").rpartition(".")[2]
        return bool(_NAME.fullmatch(host)) and not _NUMBER.fullmatch(last)


def _fit_to_show(text: str) -> str:
    """What may be shown of a text that should have been a URL."""
    text = re.sub(r"^([a-zA-Z]*://)?.*@", r"\1", text, flags=re.DOTALL)
    return scrubbed(re.split("[?#]", text)[0][:_MAX_SHOWN]) or "an empty text"
