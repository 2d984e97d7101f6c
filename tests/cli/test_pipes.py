"""Readers that go away, disks that are full, streams that are closed."""

import subprocess
from pathlib import Path

import pytest

from tests.cli.shell import GRK, Shell

WRITERS = (
    "search the",
    "search the --json",
    "collections list",
    "doctor",
    "ingest docs",
    "--help",
)


@pytest.fixture
def long(grk: Shell) -> Shell:
    """A collection whose search results are longer than a pipe holds."""
    for number in range(100):
        grk.write(f"docs/{number:03}.txt", f"On the {number}th page.\n" + "Another word. " * 400)
    grk("ingest", "docs", "--chunk-size", "5000")
    return grk


def piped_into(shell: Shell, args: list[str], reader: str) -> tuple[bytes, str]:
    """What the reader printed, and grk's stderr."""
    with subprocess.Popen(
        [GRK, *args],
        cwd=shell.folder,
        env=shell.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as writer:
        head = subprocess.run(reader.split(), stdin=writer.stdout, capture_output=True, check=True)
        assert writer.stdout is not None
        writer.stdout.close()
        assert writer.stderr is not None
        err = writer.stderr.read().decode()
        writer.wait(timeout=60)
    assert writer.returncode != 70
    return head.stdout, err


@pytest.mark.parametrize("flags", ["", "--json"])
def test_a_reader_that_takes_one_line_ends_a_search_quietly(long: Shell, flags: str) -> None:
    head, err = piped_into(long, ["search", "the", "-k", "100", *flags.split()], "head -n 1")
    assert head.count(b"\n") == 1
    assert err == ""


@pytest.mark.parametrize("command", WRITERS)
def test_a_reader_that_takes_nothing_causes_no_complaint(indexed: Shell, command: str) -> None:
    _, err = piped_into(indexed, command.split(), "true")
    assert err == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("flags", ["", "--json"])
def test_a_full_disk_under_stdout_is_one_line(indexed: Shell, flags: str) -> None:
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run(
            [GRK, "search", "valve", *flags.split()],
            cwd=indexed.folder,
            env=indexed.env,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert ran.returncode == 3
    assert len(ran.stderr.splitlines()) == 1
    assert b"No space left" in ran.stderr
    assert b"internal error" not in ran.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-"])
def test_a_closed_stream_causes_no_traceback(indexed: Shell, closed: str) -> None:
    for query in ("valve", "zebra"):
        ran = subprocess.run(
            ["sh", "-c", f'"$0" search {query} {closed}', GRK],
            cwd=indexed.folder,
            env=indexed.env,
            capture_output=True,
            check=False,
        )
        assert b"internal error" not in ran.stderr
        assert b"Traceback" not in ran.stderr
        if closed != ">&-":
            assert ran.returncode == 0
