"""Run the examples in the documentation and write what they print beneath them.

    python scripts/examples.py [PAGE...]

Each page starts in a folder that holds the tutorial's files. In order: a fenced block with a
`title` becomes the file so named; in a `console` block the lines after `$ ` run in a shell; a
`python` block runs by itself, and a `text` block right after it holds what it prints.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TUTORIAL = ROOT / "docs" / "tutorial" / "index.md"
HOME = "/home/ada"

_BLOCK = re.compile(
    r"^(?P<fence>`{3,})(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n"
    r"(?P<body>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)
_NEXT = "\x1e"


class ExampleError(Exception):
    """An example could not be run."""


def pages() -> list[Path]:
    """Every page that may hold examples."""
    return [
        ROOT / "README.md",
        *sorted((ROOT / "docs").rglob("*.md")),
        *sorted((ROOT / "packages").glob("*/README.md")),
    ]


def refreshed(page: Path, text: str) -> str:
    """The page's text with the output of its examples as it is now."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve() / Path(HOME).name
        home.mkdir()
        _write_files(home, TUTORIAL.read_text(encoding="utf-8"))
        return "".join(_parts(page, text, home))


def _parts(page: Path, text: str, home: Path) -> Iterator[str]:
    position, printed, follows = 0, "", -1
    for block in _BLOCK.finditer(text):
        body = block["body"]
        if block["title"]:
            _write(home, block)
        elif block["language"] == "console":
            body = _console(body, home)
        elif block["language"] == "python":
            printed, follows = _python(page, body, home), block.end() + 2
        elif block["language"] == "text" and block.start() == follows:
            body = printed
        yield text[position : block.start("body")] + body
        position = block.end("body")
    yield text[position:]


def _write_files(home: Path, text: str) -> None:
    """The files as a page first shows them."""
    for block in _BLOCK.finditer(text):
        if block["title"] and not (home / block["title"]).exists():
            _write(home, block)


def _write(home: Path, block: re.Match[str]) -> None:
    path = home / block["title"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(block["body"], encoding="utf-8")


def _run(command: list[str], home: Path) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GROUNDKIT__")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
    settings = {"PATH": path, "XDG_CONFIG_HOME": str(home / ".config"), "PYTHONUTF8": "1"}
    return subprocess.run(
        command,
        cwd=home,
        env={**kept, **settings},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def _console(body: str, home: Path) -> str:
    """The commands of a block, each with what it prints on a terminal."""
    commands = [line[2:] for line in body.splitlines() if line.startswith("$ ")]
    script = "exec 2>&1\n" + "".join(
        f"{command}\ncode=$?; printf '{_NEXT}'; (exit $code)\n" for command in commands
    )
    outputs = _run(["bash", "-c", script], home).stdout.replace(str(home), HOME).split(_NEXT)
    pairs = zip(commands, outputs[:-1], strict=True)
    return "".join(f"$ {command}\n{output}" for command, output in pairs)


def _python(page: Path, code: str, home: Path) -> str:
    done = _run([sys.executable, "-c", code], home)
    if done.returncode:
        raise ExampleError(f"{page.relative_to(ROOT)}: an example failed\n{code}\n{done.stderr}")
    return done.stdout.replace(str(home), HOME)


def main(names: list[str]) -> None:
    """Rewrite the pages whose examples print something else now."""
    for page in [Path(name).resolve() for name in names] or pages():
        text = page.read_text(encoding="utf-8")
        new = refreshed(page, text)
        if new != text:
            page.write_text(new, encoding="utf-8")
            print(f"rewrote {page.relative_to(ROOT)}")


if __name__ == "__main__":
    main(sys.argv[1:])
