"""A real HTTP server on loopback that records each request and misbehaves as it is told."""

import json
import select
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.parser import BytesParser
from types import TracebackType
from typing import Self

__all__ = [
    "Behaviour",
    "FaultyServer",
    "Request",
    "cut_body",
    "cut_chunks",
    "drip",
    "flood",
    "full_backlog",
    "hang_up",
    "raw",
    "reply",
    "silence",
    "tunnel",
    "unused_port",
]


@dataclass
class Request:
    """What one client sent, and what it got back."""

    line: str
    headers: dict[str, str]
    body: bytes
    server_name: str | None
    connection: socket.socket = field(repr=False)
    ended: threading.Event = field(repr=False)
    sent: int = 0

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)
        self.sent += len(data)

    @property
    def json(self) -> dict[str, object]:
        loaded = json.loads(self.body)
        assert isinstance(loaded, dict)
        return loaded


Behaviour = Callable[[Request], None]


class FaultyServer:
    """Answers the n-th request with the n-th behaviour, and all later ones with the last."""

    def __init__(
        self,
        *behaviours: Behaviour,
        tls: ssl.SSLContext | None = None,
        host: str = "127.0.0.1",
    ) -> None:
        self.behaviours: Sequence[Behaviour] = behaviours
        self.requests: list[Request] = []
        self.connections = 0
        self._names: dict[int, str | None] = {}
        self._tls = tls
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._threads: list[threading.Thread] = []
        self._open: set[socket.socket] = set()
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, 0), family=family)
        self.port: int = self._listener.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        self.url = f"{'https' if tls else 'http'}://{shown}:{self.port}"
        if tls is not None:
            tls.sni_callback = self._note_name

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)
            assert not thread.is_alive()

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._ended.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.settimeout(20)
            self.connections += 1
            self._start(self._serve, connection)

    def _note_name(
        self, connection: ssl.SSLObject | ssl.SSLSocket, name: str | None, _: ssl.SSLContext
    ) -> None:
        self._names[id(connection)] = name

    def _serve(self, connection: socket.socket) -> None:
        # A client that leaves early is what most behaviours are for.
        self._open.add(connection)
        with suppress(OSError), connection:
            if self._tls is None:
                self._answer(connection)
            else:
                with self._tls.wrap_socket(connection, server_side=True) as secured:
                    self._open.add(secured)
                    self._answer(secured)

    def _answer(self, connection: socket.socket) -> None:
        received = _receive(connection, self._names.get(id(connection)), self._ended)
        if received is None:
            return
        with self._lock:
            behaviour = self.behaviours[min(len(self.requests), len(self.behaviours) - 1)]
            self.requests.append(received)
        behaviour(received)


def _receive(connection: socket.socket, name: str | None, ended: threading.Event) -> Request | None:
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more or (data + more).startswith(b"\x16"):  # a TLS hello is no request
            return None
        data += more
    head, body = data.split(b"\r\n\r\n", 1)
    line, _, fields = head.partition(b"\r\n")
    headers = {k.lower(): v for k, v in BytesParser().parsebytes(fields).items()}
    while len(body) < int(headers.get("content-length", 0)):
        more = connection.recv(65536)
        if not more:
            return None
        body += more
    return Request(line.decode("ascii"), headers, body, name, connection, ended)


def _head(status: int, *fields: str) -> bytes:
    lines = [f"HTTP/1.1 {status} Scripted", *fields, "Connection: close", "", ""]
    return "\r\n".join(lines).encode("ascii")


def reply(body: object, *fields: str, status: int = 200) -> Behaviour:
    """A whole reply: bytes as they are, text as UTF-8, anything else as JSON."""
    if isinstance(body, str):
        data = body.encode()
    else:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
    if not any(f.lower().startswith("content-type:") for f in fields):
        fields = ("Content-Type: application/json", *fields)
    return raw(_head(status, f"Content-Length: {len(data)}", *fields) + data)


def raw(data: bytes) -> Behaviour:
    """These bytes, and the end of the connection."""

    def behave(request: Request) -> None:
        request.send(data)

    return behave


def hang_up(request: Request) -> None:
    """The end of the connection without a byte."""
    request.connection.shutdown(socket.SHUT_RDWR)


def silence(request: Request) -> None:
    """Not a byte until the server ends."""
    request.ended.wait()


def drip(
    body: bytes, *, headers: bool = False, seconds: float = 0.2, kind: str = "application/json"
) -> Behaviour:
    """One byte at a time, from the body's start or already from the status line's."""

    def behave(request: Request) -> None:
        head = _head(200, f"Content-Length: {len(body)}", f"Content-Type: {kind}")
        if not headers:
            request.send(head)
        for byte in head + body if headers else body:
            if request.ended.wait(seconds):
                return
            request.send(bytes([byte]))

    return behave


def cut_body(body: bytes, *, missing: int = 1) -> Behaviour:
    """A body that ends before its Content-Length."""
    return raw(_head(200, f"Content-Length: {len(body) + missing}") + body)


def cut_chunks(body: bytes) -> Behaviour:
    """A chunked body without its last chunk."""
    return raw(_head(200, "Transfer-Encoding: chunked") + b"%x\r\n%s\r\n" % (len(body), body))


def flood(
    size: int, *, announced: bool, status: int = 200, kind: str = "application/json"
) -> Behaviour:
    """One letter `size` times, with its Content-Length or chunked."""
    block = b"x" * 65536

    def behave(request: Request) -> None:
        length = f"Content-Length: {size}" if announced else "Transfer-Encoding: chunked"
        request.send(_head(status, length, f"Content-Type: {kind}"))
        frame = block if announced else b"10000\r\n" + block + b"\r\n"
        for _ in range(size // len(block)):
            request.send(frame)

    return behave


def tunnel(port: int) -> Behaviour:
    """What a proxy does on CONNECT, whatever the name, to a port on loopback."""

    def behave(request: Request) -> None:
        assert request.line.startswith("CONNECT ")
        with socket.create_connection(("127.0.0.1", port)) as onward:
            request.send(b"HTTP/1.1 200 Connected\r\n\r\n")
            other = {request.connection: onward, onward: request.connection}
            while not request.ended.is_set():
                for readable in select.select(list(other), [], [], 0.1)[0]:
                    data = readable.recv(65536)
                    if not data:
                        return
                    other[readable].sendall(data)

    return behave


def unused_port() -> int:
    """A port on loopback that nobody listens to."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@contextmanager
def full_backlog() -> Iterator[int]:
    """A port on loopback where a connection is neither accepted nor refused."""
    waiting = [socket.socket() for _ in range(8)]
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = int(listener.getsockname()[1])
        for client in waiting:
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", port))
        try:
            yield port
        finally:
            for client in waiting:
                client.close()
