"""Real model servers as processes on loopback."""

import json
import re
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

__all__ = ["LLAMA", "PROXY", "SERVE_CHAT", "direct", "served", "token_count"]

LLAMA = "xllamacpp==2026.10.11549"
PROXY = "ollama-proxy-plus==0.1.0"
SERVE_CHAT = Path(__file__).parent / "serve_chat.py"

# Nothing on loopback goes through a proxy of the environment.
direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))

_ADDRESS = re.compile(r"(?:listening|running on) http://127\.0\.0\.1:(\d+)")


@contextmanager
def served(
    command: Sequence[str | Path], ready: str, log: Path, env: Mapping[str, str] | None = None
) -> Iterator[int]:
    """The port of a server that a command starts, once it is ready; the server ends with us."""
    with (
        log.open("wb") as out,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=out, stderr=subprocess.STDOUT, env=env
        ) as process,
    ):
        try:
            yield _ready(process, ready, log)
        finally:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()


def token_count(server: str, text: str) -> int:
    """How many tokens a llama.cpp server makes of a text."""
    body = json.dumps({"content": text}).encode()
    request = urllib.request.Request(
        f"{server}/tokenize", body, {"Content-Type": "application/json"}
    )
    with direct.open(request, timeout=60) as reply:
        return len(json.load(reply)["tokens"])


def _ready(process: "subprocess.Popen[bytes]", path: str, log: Path) -> int:
    until = time.monotonic() + 180
    while time.monotonic() < until:
        written = log.read_text(errors="replace")
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}:\n{written[-2000:]}")
        if (found := _ADDRESS.search(written)) and _answers(f"http://127.0.0.1:{found[1]}{path}"):
            return int(found[1])
        time.sleep(0.2)
    raise TimeoutError(f"the server is not ready:\n{log.read_text(errors='replace')[-2000:]}")


def _answers(url: str) -> bool:
    """Whether a server is ready; llama.cpp answers 503 while it loads a model."""
    try:
        with direct.open(url, timeout=5):
            return True
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False
