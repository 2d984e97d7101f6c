"""A redirect is refused as one wherever it leads, also where that is no URL."""

import pytest
from groundkit_core.errors import ChatError

from tests.providers.dialects import KEY, Dialect, both, failure, without_proxies
from tests.providers.faulty_server import FaultyServer, raw


@both
@pytest.mark.parametrize(
    "location", ["data:text/html,x", "http://[::1", "http://a:x/", f"http://[{KEY}", "", "\xff"]
)
def test_a_redirect_to_what_is_no_url_is_an_error_like_others(
    dialect: Dialect, monkeypatch: pytest.MonkeyPatch, location: str
) -> None:
    without_proxies(monkeypatch)
    head = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nConnection: close\r\n"
    reply = head + b"Location: " + location.encode("latin-1") + b"\r\n\r\n"
    with FaultyServer(raw(reply)) as server:
        error = failure(dialect.chat(server.url))
        assert len(server.requests) == 1
    assert type(error) is ChatError
    assert "it answers 302 and sends us elsewhere" in str(error)
