"""The real `grk`, run as a user runs it: a folder, a home of its own, pipes or a terminal."""

import contextlib
import fcntl
import importlib
import json
import os
import pty
import struct
import subprocess
import sys
import tempfile
import termios
import traceback
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn

from groundkit_cli import output
from groundkit_cli.main import main

from tests.unmeasured import stop_coverage

# What commands import late, and copies of this process need not import again.
for _name in ("groundkit_evals.page", "groundkit_evals.plots", "matplotlib.backends.backend_svg"):
    with contextlib.suppress(ImportError):
        importlib.import_module(_name)

__all__ = ["GRK", "Ran", "Shell", "tree"]

GRK = Path(sys.executable).with_name("grk.exe" if os.name == "nt" else "grk")
_OWN = (
    "COLUMNS", "FORCE_COLOR", "GROUNDKIT", "LANG", "LC_", "LINES", "NO_COLOR", "PYTHON", "TERM",
    "TTY_", "XDG_", "_TYPER", "_GRK",
)  # fmt: skip
Argument = str | bytes | Path
_UNFINISHED = 99
_FORKED = {"ingest", "search", "show", "verify", "collections", "doctor", "answer", "eval"}
_THREADED = ("--dense", "--mode", "--embed", "--rerank", "--min-similarity", "compact", "reindex")


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on stdout; anything else there is an error."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


def may_fork(args: Sequence[Argument], env: Mapping[str, str]) -> bool:
    """Whether a command may run in a copy of this process, which spares Python's start.

    Not where start-up is the point, nor where a library would use threads of its own.
    """
    words = [word for word in args if isinstance(word, str)]
    known = bool(words) and words[0] in _FORKED
    threaded = any(word.startswith(_THREADED) for word in words)
    return known and not threaded and not any(name.startswith("PYTHON") for name in env)


def forked(args: Sequence[Argument], cwd: Path, env: Mapping[str, str], stdin: bytes) -> Ran:
    """Run `grk` in a copy of this process, with files for its streams."""
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        given.write(stdin)
        given.seek(0)
        with warnings.catch_warnings():
            # Threads of the test runner are not used in the copy.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if not child:
            _become(args, cwd, env, [given.fileno(), out.fileno(), err.fileno()])
        _, status = os.waitpid(child, 0)
        streams = []
        for stream in (out, err):
            stream.seek(0)
            streams.append(stream.read().decode())
    return Ran(os.waitstatus_to_exitcode(status), *streams)


def _become(
    args: Sequence[Argument], cwd: Path, env: Mapping[str, str], streams: Sequence[int]
) -> NoReturn:
    stop_coverage()
    code = _UNFINISHED
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        sys.stdin = os.fdopen(0, "r", encoding="utf-8", closefd=False)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(env)
        warnings.resetwarnings()
        warnings.simplefilter("ignore")
        sys.argv = [str(GRK), *(os.fsdecode(word) for word in args)]
        output.printed_json = False
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    finally:
        if code == _UNFINISHED:
            traceback.print_exc()
        for output_stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                output_stream.flush()
        os._exit(code)


class Shell:
    """Runs `grk` in a folder and checks its exit code."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_OWN)}
        home = folder / "home"
        home.mkdir(exist_ok=True)
        self.env = {**kept, "HOME": str(home), "LANG": "C.UTF-8", "TERM": "xterm-256color"}

    def __call__(
        self,
        *args: Argument,
        code: int | tuple[int, ...] = 0,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: str = "",
    ) -> Ran:
        """Run with all three streams piped."""
        if may_fork(args, env or {}):
            ran = forked(args, cwd or self.folder, {**self.env, **(env or {})}, stdin.encode())
            return self._checked(ran, code)
        with self.start(*args, cwd=cwd, env=env) as process:
            out, err = process.communicate(stdin.encode(), timeout=120)
        return self._checked(Ran(process.returncode, out.decode(), err.decode()), code)

    def start(
        self,
        *args: Argument,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        prefix: tuple[str, ...] = (),
    ) -> subprocess.Popen[bytes]:
        """A running `grk`, perhaps under another command."""
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [*prefix, GRK, *args],
            cwd=cwd or self.folder,
            env={**self.env, **(env or {})},
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
        )

    def terminal(
        self,
        *args: Argument,
        stream: Literal["stdout", "stderr"] = "stdout",
        code: int = 0,
        columns: int = 80,
        env: Mapping[str, str] | None = None,
    ) -> Ran:
        """Run with one stream on a terminal and the other piped."""
        reader, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: terminal}
        shown = b""
        with subprocess.Popen(
            [GRK, *args],
            cwd=self.folder,
            env={**self.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=streams["stdout"],
            stderr=streams["stderr"],
        ) as process:
            os.close(terminal)
            # Linux answers EIO once the other end is closed.
            with contextlib.suppress(OSError):
                while part := os.read(reader, 65536):
                    shown += part
            piped = b"".join(part or b"" for part in process.communicate(timeout=120))
        os.close(reader)
        text, other = shown.replace(b"\r\n", b"\n").decode(), piped.decode()
        ran = (text, other) if stream == "stdout" else (other, text)
        return self._checked(Ran(process.returncode, *ran), code)

    def at_startup(self, source: str) -> dict[str, str]:
        """Environment in which Python runs `source` before `grk` begins."""
        folder = self.folder / "startup"
        folder.mkdir(exist_ok=True)
        (folder / "sitecustomize.py").write_text(source)
        return {"PYTHONPATH": str(folder)}

    def write(self, name: str, content: str | bytes) -> Path:
        """A file below the folder, with the folders above it."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    @staticmethod
    def _checked(ran: Ran, code: int | tuple[int, ...]) -> Ran:
        wanted = (code,) if isinstance(code, int) else code
        assert ran.code in wanted, f"exit {ran.code}, not {code}\n{ran.out}\n{ran.err}"
        return ran


def tree(folder: Path) -> dict[str, bytes | None]:
    """Every path below a folder with its content, None for what is no file."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }
