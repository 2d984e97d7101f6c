"""No command touches the network."""

import shutil
import subprocess

import pytest

from tests.cli.shell import GRK, Shell

# `socket.__new__` and `socket.gethostname` are left alone: neither reaches anybody.
WATCH = """
import sys
_REACHING = ("connect", "getaddrinfo", "gethostby", "getnameinfo", "sendto", "sendmsg", "bind")
def _watch(event, args):
    family, _, what = event.partition(".")
    if family == "socket" and what.startswith(_REACHING) or family in ("urllib", "http", "ftplib"):
        sys.stderr.write(f"NETWORK {event}\\n")
        sys.stderr.flush()
        import os
        os._exit(99)
sys.addaudithook(_watch)
"""
COMMANDS: tuple[tuple[str, ...], ...] = (
    *((*command.split(), "--help") for command in ("", "ingest", "search", "verify", "doctor")),
    ("ingest", "docs"),
    ("ingest", "docs", "--rehash"),
    ("search", "valve"),
    ("search", "valve", "--json"),
    ("verify",),
    ("verify", "saved.json"),
    ("collections", "list"),
    ("collections", "show"),
    ("collections", "reindex", "--language", "german"),
    ("collections", "compact"),
    ("doctor",),
    ("collections", "delete", "default", "--yes"),
)


def test_the_watch_would_see_an_attempt(grk: Shell) -> None:
    env = grk.at_startup(WATCH + "import socket\nsocket.create_connection(('127.0.0.1', 9))\n")
    assert "NETWORK socket." in grk("--help", env=env, code=99).err


def test_no_command_makes_an_attempt_to_connect(grk: Shell) -> None:
    grk.write("docs/guess.txt", b"The caf\xe9 is open.\n")
    grk("ingest", "docs", "--collection", "other")
    grk.write("saved.json", grk("search", "ledger", "--collection", "other", "--json").out)
    env = grk.at_startup(WATCH)
    for args in COMMANDS:
        ran = grk(*args, env=env)
        assert "NETWORK" not in ran.err


def test_the_first_steps_work_without_a_network(grk: Shell) -> None:
    unshare = shutil.which("unshare")
    if (
        unshare is None
        or subprocess.run([unshare, "-n", GRK, "--help"], capture_output=True).returncode
    ):
        pytest.skip("unshare -n is not allowed here: the cut network was not tried")
    for args in (("ingest", "docs"), ("search", "valve"), ("verify",), ("doctor",)):
        with grk.start(*args, prefix=(unshare, "-n")) as process:
            _, err = process.communicate(timeout=60)
        assert process.returncode == 0, err.decode()
