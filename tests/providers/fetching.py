"""What the tests of fetching share: pages on loopback, and names and addresses that lead there."""

import asyncio
import inspect
import traceback
from typing import Any

import anyio
import pytest
from groundkit_core.errors import SourceError
from groundkit_core.loading.snapshot import Snapshot
from groundkit_providers import http
from groundkit_providers.fetch import fetch

from tests.providers.dialects import without_proxies
from tests.providers.faulty_server import Behaviour, reply

__all__ = ["CANARY", "HTML", "Network", "failure", "fetched", "page", "redirect"]

CANARY = "c4nary-s3cret"
HTML = "Content-Type: text/html; charset=utf-8"


class Network:
    """Names and public addresses of its own; dialling one leads to a port on loopback.

    What is dialled is recorded, and an address without a port is a failure to connect.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.names: dict[str, list[list[str]]] = {}
        self.ports: dict[str, int] = {}
        self.asked: list[str] = []
        self.dialled: list[tuple[str, int]] = []
        self._connect = anyio.connect_tcp
        assert "remote_host" in inspect.signature(anyio.connect_tcp).parameters
        without_proxies(monkeypatch)
        monkeypatch.setattr(http, "resolve_host", self._resolve)
        monkeypatch.setattr(anyio, "connect_tcp", self._dial)

    def place(self, name: str, *answers: str, port: int | None = None) -> None:
        """A name that leads to each address in turn; later look-ups get the last one."""
        self.names[name] = [[address] for address in answers]
        for address in answers if port is not None else ():
            self.ports[address] = port or 0

    async def _resolve(self, host: str, port: int) -> list[str]:  # noqa: ARG002
        self.asked.append(host)
        answers = self.names.get(host, [[host]])
        return answers.pop(0) if len(answers) > 1 else answers[0]

    async def _dial(self, remote_host: str, remote_port: int, **options: Any) -> object:
        self.dialled.append((remote_host, remote_port))
        if remote_host in self.ports:
            remote_host, remote_port = "127.0.0.1", self.ports[remote_host]
        elif not remote_host.startswith("127."):
            raise OSError("nothing leaves this machine")
        return await self._connect(remote_host, remote_port, **options)


def page(body: object = "<p>Kettles.</p>", *fields: str, status: int = 200) -> Behaviour:
    """An HTML page, unless `fields` name another type."""
    named = any(field.lower().startswith("content-type") for field in fields)
    return reply(body, *fields, *([] if named else [HTML]), status=status)


def redirect(location: str, status: int = 302) -> Behaviour:
    """A redirect with a body of its own."""
    return reply("elsewhere", f"Location: {location}", status=status)


def fetched(url: str, **options: Any) -> Snapshot:
    """The document, where the servers of these tests may be reached."""
    options.setdefault("allow_private", ["127.0.0.1"])
    return asyncio.run(fetch(url, **options))


def failure(url: str, **options: Any) -> SourceError:
    """The one error of a fetch, once no secret is found in or behind it."""
    with pytest.raises(SourceError) as caught:
        fetched(url, **options)
    error = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None
    frames = "".join([str(error), repr(error), *traceback.format_exception_only(error)])
    assert CANARY not in frames
    assert str(error).isprintable()
    return error
