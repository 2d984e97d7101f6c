"""Run a command beside a real chat model: `python -m scripts.with_model qwen -- grk eval ...`.

In the command `{url}` is the server's address, `{minilm}` the folder of an ONNX embedder. Both are
fetched if they are not here; the server is on loopback and ends with the command.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from scripts.models import MODELS, environment, fetch
from scripts.servers import LLAMA, SERVE_CHAT, served

__all__ = ["main"]


def main(arguments: list[str]) -> int:
    """The command's exit code."""
    if len(arguments) < 3 or arguments[1] != "--":
        sys.exit("usage: python -m scripts.with_model MODEL -- COMMAND ...")
    name, command = arguments[0], arguments[2:]
    values = {"{minilm}": ""}
    if any("{minilm}" in part for part in command):
        for part in ("minilm", "minilm-tokenizer"):
            values["{minilm}"] = str(fetch(MODELS[part]).parent)
    server = (environment(LLAMA), SERVE_CHAT, fetch(MODELS[name]), "--end-with-stdin")
    with (
        tempfile.TemporaryDirectory() as folder,
        served(server, "/health", Path(folder) / "log") as port,
    ):
        values["{url}"] = f"http://127.0.0.1:{port}/v1"
        filled = [_filled(part, values) for part in command]
        return subprocess.run(filled, check=False).returncode


def _filled(part: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        part = part.replace(name, value)
    return part


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
