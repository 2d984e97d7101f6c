"""nginx and Caddy with the settings of the documentation, but for paths and ports."""

import json
import os
import pwd
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any

import pytest
import trustme

from tests.docs.blocks import blocks
from tests.e2e.serving import Served

__all__ = ["HOST", "Proxy", "Start", "caddy", "nginx"]

HOST = "kb.example.com"


class _Direct(HTTPSConnection):
    """A connection to this machine under the proxy's name."""

    def connect(self) -> None:
        plain = socket.create_connection(("127.0.0.1", self.port), self.timeout)
        self.sock = self._context.wrap_socket(plain, server_hostname=HOST)  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy with TLS on a port of loopback, in front of a real server."""

    port: int
    trust: ssl.SSLContext
    server: Served

    def ask(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of what a client on another machine would get."""
        connection = _Direct(HOST, self.port, timeout=30, context=self.trust)
        try:
            given = {"Host": HOST} | {name.replace("_", "-"): v for name, v in headers.items()}
            connection.request(method, path, body, given)
            reply = connection.getresponse()
            names = {name.lower(): value for name, value in reply.getheaders()}
            return reply.status, names, reply.read()
        finally:
            connection.close()

    def post(self, path: str, document: Any, **headers: str) -> tuple[int, Any]:
        """Status and document of a reply to a JSON document."""
        status, _, body = self.ask("POST", path, json.dumps(document).encode(), **headers)
        return status, json.loads(body)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def settings(title: str) -> str:
    (found,) = [block.body for block in blocks("how-to/reverse-proxy.md") if block.title == title]
    return found


def certificate(folder: Path) -> tuple[Path, Path, ssl.SSLContext]:
    """A certificate of the proxy's name with its key, and what trusts it."""
    authority = trustme.CA()
    issued = authority.issue_cert(HOST)
    chain, key = folder / "chain.pem", folder / "key.pem"
    chain.write_bytes(b"".join(each.bytes() for each in issued.cert_chain_pems))
    key.write_bytes(issued.private_key_pem.bytes())
    trust = ssl.create_default_context()
    authority.configure_trust(trust)
    return chain, key, trust


def substituted(text: str, changes: dict[str, str]) -> str:
    """The settings with other paths and ports; each has to be there."""
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return text


@contextmanager
def nginx(folder: Path, server: Served) -> Iterator[Proxy]:
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        pytest.skip("nginx is missing; install it with: apt-get install nginx-light")
    chain, key, trust = certificate(folder)
    port = free_port()
    changes = {
        "listen 443": f"listen 127.0.0.1:{port}",
        "/etc/ssl/certs/kb.example.com.pem": str(chain),
        "/etc/ssl/private/kb.example.com.key": str(key),
        "http://127.0.0.1:8000": server.url,
    }
    me = pwd.getpwuid(os.getuid()).pw_name
    own = f"user {me};\n" if os.getuid() == 0 else ""
    places = "".join(
        f"{name}_temp_path {folder}/{name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    config = folder / "nginx.conf"
    config.write_text(
        f"{own}daemon off;\npid {folder}/pid;\nerror_log {folder}/error.log;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{places}{substituted(settings('groundkit.conf'), changes)}}}\n"
    )
    command = [program, "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(config)]
    with running(command, folder, port):
        yield Proxy(port, trust, server)


@contextmanager
def caddy(folder: Path, server: Served) -> Iterator[Proxy]:
    program = shutil.which("caddy")
    if program is None:
        pytest.skip("caddy is missing; install it with: apt-get install caddy")
    chain, key, trust = certificate(folder)
    port = free_port()
    changes = {
        f"{HOST} {{\n": f"https://{HOST}:{port} {{\n\tbind 127.0.0.1\n\ttls {chain} {key}\n",
        "127.0.0.1:8000": server.url.removeprefix("http://"),
    }
    config = folder / "Caddyfile"
    quiet = "{\n\tadmin off\n\tauto_https disable_redirects\n}\n"
    config.write_text(quiet + substituted(settings("Caddyfile"), changes))
    command = [program, "run", "--config", str(config), "--adapter", "caddyfile"]
    with running(command, folder, port):
        yield Proxy(port, trust, server)


@contextmanager
def running(command: list[str], folder: Path, port: int) -> Iterator[None]:
    """A program, from when it listens until it is ended."""
    log = folder / "proxy.log"
    env = {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    env |= {"XDG_CONFIG_HOME": str(folder)}
    with (
        log.open("wb") as out,
        subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out) as it,
    ):
        try:
            until = time.monotonic() + 30
            while not listens(port):
                assert it.poll() is None, log.read_text()
                assert time.monotonic() < until, log.read_text()
                time.sleep(0.05)
            yield
        finally:
            it.terminate()
            try:
                it.wait(timeout=10)
            except subprocess.TimeoutExpired:
                it.kill()


def listens(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), 1):
            return True
    except OSError:
        return False


Start = Callable[[Path, Served], AbstractContextManager[Proxy]]
