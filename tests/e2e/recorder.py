"""A relay on loopback that keeps every byte sent to the server behind it."""

import re
import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

__all__ = ["Recorder", "recorded"]

_HEAD = re.compile(rb"([A-Z]+) (\S+) HTTP/1\.1\r\n(?:[^\r\n]+\r\n)*\r\n")
_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")


class Recorder:
    """What clients sent, connection by connection."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._streams: list[bytearray] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def connection(self) -> bytearray:
        """A buffer for one more connection."""
        self._streams.append(bytearray())
        return self._streams[-1]

    def sent(self, since: int = 0) -> bytes:
        """All bytes of the connections after the first few."""
        return b"\n".join(self._streams[since:])

    @property
    def connections(self) -> int:
        return len(self._streams)

    def requests(self, since: int = 0) -> list[tuple[str, bytes]]:
        """Path and body of each request."""
        return [request for stream in self._streams[since:] for request in _parsed(bytes(stream))]


def _parsed(stream: bytes) -> Iterator[tuple[str, bytes]]:
    at = 0
    while at < len(stream):
        head = _HEAD.match(stream, at)
        assert head, f"no HTTP request: {stream[at : at + 80]!r}"
        length = _LENGTH.search(head[0])
        at = head.end() + (int(length[1]) if length else 0)
        yield head[2].decode(), stream[head.end() : at]


@contextmanager
def recorded(upstream: int) -> Iterator[Recorder]:
    """A recorder in front of a port of this machine."""

    class Relay(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            buffer = recorder.connection()
            with socket.create_connection(("127.0.0.1", upstream)) as server:
                back = threading.Thread(target=_pump, args=(server, self.request), daemon=True)
                back.start()
                _pump(self.request, server, buffer)
                back.join()

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Relay) as server:
        recorder = Recorder(server.server_address[1])
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield recorder
        finally:
            server.shutdown()


def _pump(source: socket.socket, target: socket.socket, buffer: bytearray | None = None) -> None:
    """Copy bytes until one side is done, then say so to the other."""
    with suppress(ConnectionError, OSError):
        while data := source.recv(65536):
            if buffer is not None:
                buffer += data
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
