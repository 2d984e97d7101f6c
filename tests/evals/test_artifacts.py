"""Files of results: whole or not there, whenever their writer dies."""

import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from groundkit_evals import EvalReport
from groundkit_evals.artifacts import ECHO, LATEST, PAGE, read_artifact, write_artifact, write_text
from groundkit_evals.schema import StageResult, Verdict

from tests.evals.sets import SECRET, document, found, query, refusal, report, result

VERDICT = Verdict(faithful=False, unsupported_claims=("größer",), reasoning="🚰\n\u2028")
RUN = report(
    [query("q1", SECRET, document("a"))],
    StageResult(stage="bm25", results=(result("q1", found(0.5, "a"), ranks={"a": 1}, mrr=1),)),
)


def test_the_names_are_these() -> None:
    assert (LATEST, ECHO, PAGE) == ("latest.json", "echo-latest.json", "latest.html")


@pytest.mark.parametrize("artifact", [VERDICT, RUN])
def test_an_artifact_comes_back_as_it_was(tmp_path: Path, artifact: Verdict | EvalReport) -> None:
    path = tmp_path / "deep/er" / LATEST
    write_artifact(path, artifact)
    assert read_artifact(path, type(artifact)) == artifact
    assert path.read_text("utf-8").endswith("}\n")


def test_a_file_is_replaced_and_nothing_else_left(tmp_path: Path) -> None:
    path = tmp_path / LATEST
    for text in ("a long old text", "new\n", "é\r\n"):
        write_text(path, text)
        assert path.read_bytes() == text.encode()
        assert list(tmp_path.iterdir()) == [path]


def test_others_may_read_the_file_as_they_may_read_any(tmp_path: Path) -> None:
    write_text(tmp_path / LATEST, "text")
    (tmp_path / "other").touch()
    assert (tmp_path / LATEST).stat().st_mode == (tmp_path / "other").stat().st_mode


def test_the_new_text_is_on_the_disk_before_the_old_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / LATEST
    path.write_text("old")
    there: list[list[str]] = []
    monkeypatch.setattr(
        os, "fsync", lambda _: there.append([each.read_text() for each in tmp_path.iterdir()])
    )
    write_text(path, "new")
    assert [sorted(texts) for texts in there] == [["new", "old"]]
    assert path.read_text() == "new"


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """A stand-in for a full disk: a longer file cannot be written."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / LATEST
    write_text(path, "old")
    with files_of_at_most(100_000):
        message = refusal(lambda: write_text(path, SECRET * 100_000))
    assert message == f"{path}: cannot be written: File too large"
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text() == "old"


def test_a_folder_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    path = tmp_path / "file" / LATEST
    message = refusal(lambda: write_artifact(path, RUN))
    assert message.startswith(f"{path}: cannot be written: ")


def test_a_target_that_is_a_folder_is_named(tmp_path: Path) -> None:
    path = tmp_path / LATEST
    path.mkdir()
    message = refusal(lambda: write_text(path, SECRET))
    assert message == f"{path}: cannot be written: Is a directory"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    path = tmp_path / LATEST
    message = refusal(lambda: write_text(path, SECRET))
    tmp_path.chmod(0o700)
    assert message == f"{path}: cannot be written: Permission denied"


DIES = """
import os, signal, sys
from pathlib import Path
from groundkit_evals.artifacts import write_text
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
write_text(Path(sys.argv[1]), "new")
"""


def test_a_writer_that_dies_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / LATEST
    path.write_text("old")
    done = subprocess.run([sys.executable, "-c", DIES, path], check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.read_text() == "old"
    write_text(path, "newer")
    assert path.read_text() == "newer"


SIZE = 3_000_000
WRITES = """
import sys
from pathlib import Path
from groundkit_evals.artifacts import write_text
while True:
    for letter in "ab":
        write_text(Path(sys.argv[1]), letter * int(sys.argv[2]))
"""


def test_a_file_is_whole_whenever_its_writer_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "results" / LATEST
    rng = random.Random(3)
    for _ in range(6):
        writer = subprocess.Popen([sys.executable, "-c", WRITES, path, str(SIZE)])
        while not path.exists() and writer.poll() is None:
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.03))
        writer.kill()
        assert writer.wait() == -signal.SIGKILL
        text = path.read_text()
        assert text in ("a" * SIZE, "b" * SIZE)
        path.unlink()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "Invalid JSON: EOF while parsing a value at line 1 column 0"),
        (b"{", "Invalid JSON: EOF while parsing an object at line 1 column 1"),
        (b'{"faithful": "confidential"}', "faithful: Input should be a valid boolean"),
        (b'{"faithful": true, "unsupported_claims": []}', "reasoning: Field required"),
        (
            b'{"faithful": true, "unsupported_claims": [], "reasoning": "confidential", "x": 1}',
            "x: Extra inputs are not permitted",
        ),
        (
            b'{"faithful": true, "unsupported_claims": [7], "reasoning": "confidential"}',
            "unsupported_claims.0: Input should be a valid string",
        ),
        (b'["confidential"]', "Input should be an object"),
    ],
)
def test_a_file_of_another_kind_is_refused_with_what_is_wrong(
    tmp_path: Path, data: bytes, said: str
) -> None:
    path = tmp_path / LATEST
    path.write_bytes(data)
    assert refusal(lambda: read_artifact(path, Verdict)) == f"{path}: it is no Verdict: {said}"


@pytest.mark.parametrize("data", [b"\xff\xfe", b'{"reasoning": "caf\xe9 confidential"}'])
def test_a_file_that_is_no_utf8_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / LATEST
    path.write_bytes(data)
    message = refusal(lambda: read_artifact(path, Verdict))
    assert message.startswith(f"{path}: it is no Verdict: Invalid JSON: ")


def test_a_whole_report_is_no_verdict_and_the_other_way_round(tmp_path: Path) -> None:
    path = tmp_path / LATEST
    write_artifact(path, RUN)
    assert refusal(lambda: read_artifact(path, Verdict)).startswith(f"{path}: it is no Verdict: ")
    write_artifact(path, VERDICT)
    message = refusal(lambda: read_artifact(path, EvalReport))
    assert message.startswith(f"{path}: it is no EvalReport: ")


def test_a_version_that_is_not_known_is_refused(tmp_path: Path) -> None:
    path = tmp_path / LATEST
    write_artifact(path, RUN)
    text = path.read_text("utf-8")
    path.write_text(text.replace('"schema_version": 1', '"schema_version": 2'), encoding="utf-8")
    assert refusal(lambda: read_artifact(path, EvalReport)) == (
        f"{path}: it is no EvalReport: schema_version: Input should be 1"
    )


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / LATEST
    assert refusal(lambda: read_artifact(path, Verdict)) == f"{path}: No such file or directory"
    assert refusal(lambda: read_artifact(tmp_path, Verdict)) == f"{tmp_path}: Is a directory"
