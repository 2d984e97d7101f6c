import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from groundkit_core.chunking.blocks import Block
from groundkit_core.errors import ConfigurationError, RefusedError, SourceError
from groundkit_core.loading.extracted import Extracted
from groundkit_core.loading.worker import Worker

READER = "tests.core.loading.failing_readers"


@pytest.fixture
def worker() -> Iterator[Worker]:
    with Worker(seconds=20) as running:
        yield running


def asked(worker: Worker, what: str, **options: object) -> Extracted:
    return worker.extract(READER, what.encode(), options)


def refusal(worker: Worker, what: str) -> str:
    with pytest.raises(RefusedError) as caught:
        asked(worker, what)
    return str(caught.value)


def failure(worker: Worker, what: str) -> str:
    """What is said of a file that could not be read, which is no refusal of what it holds."""
    with pytest.raises(SourceError) as caught:
        asked(worker, what)
    assert not isinstance(caught.value, RefusedError)
    return str(caught.value)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat")
        return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_everything_that_a_reader_gives_arrives(worker: Worker) -> None:
    assert asked(worker, "all", title="T") == Extracted(
        "Pumps\n\na | b\n\n",
        (Block(0, 5, "heading", 2, "Pumps"), Block(7, 12, "lined", header="x | y")),
        (0, 7),
        "T",
        ("odd",),
        "page 9 is missing",
        "utf-8",
    )


def test_one_process_reads_many_files(worker: Worker) -> None:
    pids = {asked(worker, "pid").text for _ in range(3)}
    assert len(pids) == 1
    assert pids != {str(os.getpid())}


def test_a_refusal_arrives_and_the_process_goes_on(worker: Worker) -> None:
    pid = asked(worker, "pid").text
    assert refusal(worker, "refuse Word: it is torn") == "Word: it is torn"
    assert asked(worker, "pid").text == pid


def test_a_file_that_takes_too_long_is_refused_and_the_next_one_is_read() -> None:
    with Worker(seconds=2) as worker:
        pid = int(asked(worker, "pid").text)
        begun = time.monotonic()
        assert failure(worker, "spin") == "reading it took more than 2 s"
        assert 2 <= time.monotonic() - begun < 10
        assert not is_running(pid)
        assert asked(worker, "all").text == "Pumps\n\na | b\n\n"


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("fail oh", "its reader broke down (exit code 1)"),
        ("exit 3", "its reader broke down (exit code 3)"),
        pytest.param(
            "crash",
            "its reader broke down (SIGSEGV)",
            marks=pytest.mark.skipif(sys.platform != "linux", reason="signals of Linux"),
        ),
    ],
)
def test_a_reader_that_breaks_down_refuses_its_file_only(
    worker: Worker, what: str, said: str
) -> None:
    assert failure(worker, what) == said
    assert asked(worker, "all", title="T").title == "T"


def test_deep_recursion_is_refused(worker: Worker) -> None:
    assert refusal(worker, "recursion") == "it is nested too deep"


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux only")
def test_a_file_that_takes_too_much_memory_is_refused() -> None:
    with Worker(seconds=20, memory=600 * 1024**2) as worker:
        said = failure(worker, f"memory {10**9}")
        assert said == "reading it takes more than 600 MiB of memory"
        assert asked(worker, "memory 1000").text == "x" * 1000


def test_what_a_library_prints_is_no_part_of_the_reply(worker: Worker) -> None:
    assert asked(worker, "print noise", title="T").title == "T"


def test_a_large_file_goes_through_the_pipe(worker: Worker) -> None:
    said = "x" * 3_000_000
    assert refusal(worker, f"refuse {said}") == said


def test_the_process_ends_with_the_worker() -> None:
    with Worker() as worker:
        pid = int(asked(worker, "pid").text)
    assert not is_running(pid)


@pytest.mark.skipif(sys.platform == "win32", reason="kill is of POSIX")
def test_the_process_ends_when_its_program_is_killed() -> None:
    script = f"""
        import sys
        from groundkit_core.loading.worker import Worker
        worker = Worker()
        print(worker.extract({READER!r}, b"pid", {{}}).text, flush=True)
        sys.stdin.read()
    """
    program = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    with program:
        assert program.stdout is not None
        pid = int(program.stdout.readline())
        assert is_running(pid)
        program.send_signal(signal.SIGKILL)
    until = time.monotonic() + 10
    while is_running(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not is_running(pid)


@pytest.mark.skipif(sys.platform == "win32", reason="kill is of POSIX")
def test_a_process_that_was_killed_is_replaced(worker: Worker) -> None:
    pid = int(asked(worker, "pid").text)
    os.kill(pid, signal.SIGKILL)
    until = time.monotonic() + 10
    while worker.running and time.monotonic() < until:
        time.sleep(0.05)
    assert asked(worker, "pid").text != str(pid)


def test_a_limit_that_strikes_as_a_reply_arrives_hurts_no_other_file() -> None:
    with Worker(seconds=0.2) as worker:
        for step in range(10):
            with suppress(SourceError):
                asked(worker, f"sleep {0.19 + step / 500}")
            assert asked(worker, "pid").text


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), 1e300])
def test_a_limit_that_is_none_is_an_error(seconds: float) -> None:
    with pytest.raises(ConfigurationError, match="must be a time above 0"):
        Worker(seconds)
