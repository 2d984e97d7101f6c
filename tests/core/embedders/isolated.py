"""Code in a process of its own, where an embedder may not touch a socket."""

import subprocess
import sys

__all__ = ["isolated"]

_NO_SOCKETS = """
import sys

def no_sockets(event, arguments):
    if event.startswith("socket."):
        raise RuntimeError(f"{event} was called")

sys.addaudithook(no_sockets)
"""


def isolated(code: str, *arguments: object, sockets: bool = False) -> str:
    """What the code prints, run where every use of a socket raises unless sockets are allowed."""
    ran = subprocess.run(
        [sys.executable, "-c", code if sockets else _NO_SOCKETS + code, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout.strip()
