"""What a run that was stopped has kept."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from groundkit_evals.journal import Journal
from groundkit_evals.schema import Verdict

from tests.evals.sets import SECRET, refusal

HEADER = {"model": "m", "labels": "h", "top_k": 5}


def part(reason: str) -> Verdict:
    return Verdict(faithful=True, unsupported_claims=(), reasoning=reason)


PARTS = {"q1": part("one\ntwo"), "größe 🚰": part(SECRET), "q3": part("three\u2028")}


def opened(path: Path, **header: object) -> Journal[Verdict]:
    return Journal(path, Verdict, HEADER | header)


def written(path: Path) -> Path:
    journal = opened(path)
    for key, each in PARTS.items():
        journal.add(key, each)
    assert journal.done == PARTS
    return path


def test_a_run_goes_on_with_what_was_done(tmp_path: Path) -> None:
    path = written(tmp_path / "deep/er/run.jsonl")
    assert opened(path).done == PARTS
    assert list(opened(path).done) == list(PARTS)


def test_a_part_that_is_done_again_counts_as_it_was_last(tmp_path: Path) -> None:
    path = written(tmp_path / "run")
    opened(path).add("q1", part("again"))
    assert opened(path).done == {**PARTS, "q1": part("again")}


def test_the_order_of_the_header_does_not_matter(tmp_path: Path) -> None:
    path = written(tmp_path / "run")
    turned = dict(reversed(HEADER.items()))
    assert list(turned) != list(HEADER)
    assert Journal(path, Verdict, turned).done == PARTS


@pytest.mark.parametrize("header", [{"model": "other"}, {"top_k": 6}, {"more": None}])
def test_another_header_begins_anew(tmp_path: Path, header: dict[str, object]) -> None:
    path = written(tmp_path / "run")
    assert opened(path, **header).done == {}
    assert opened(path).done == {}


def test_what_was_cut_off_anywhere_is_dropped_and_the_rest_goes_on(tmp_path: Path) -> None:
    path = written(tmp_path / "run")
    whole = path.read_bytes()
    ends = [at for at, byte in enumerate(whole, start=1) if byte == ord("\n")]
    assert len(ends) == 1 + len(PARTS)
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        kept = max(sum(end <= length for end in ends) - 1, 0)
        journal = opened(path)
        assert journal.done == dict(list(PARTS.items())[:kept])
        journal.add("new", part("new"))
        assert opened(path).done == {**journal.done}
        assert "new" in journal.done


@pytest.mark.parametrize(
    "line",
    [
        SECRET.encode(),
        b'["q2", "{}"]',
        b'["q2"]',
        b'["q2", null]',
        b'["q2", "not JSON"]',
        b'["q2", "{}", 3]',
        b'{"q2": "{}"}',
        b'["q2", "caf\xe9"]',
        b"\0\0\0\0",
        b"",
    ],
)
def test_a_damaged_line_is_an_error_and_nothing_is_lost(tmp_path: Path, line: bytes) -> None:
    path = written(tmp_path / "run")
    header, first, second, third = path.read_bytes().splitlines()
    damaged = b"\n".join([header, first, line, third, b""])
    path.write_bytes(damaged)
    assert second
    assert refusal(lambda: opened(path)) == (
        f"{path}: it is damaged; delete it to begin the run anew"
    )
    assert path.read_bytes() == damaged


def test_a_part_of_another_kind_is_an_error(tmp_path: Path) -> None:
    path = written(tmp_path / "run")
    text = path.read_bytes()
    path.write_bytes(text.replace(b"reasoning", b"reason"))
    assert refusal(lambda: opened(path)).startswith(f"{path}: it is damaged")


def test_a_part_is_on_the_disk_before_add_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run"
    journal = opened(path)
    synced: list[list[bytes]] = []
    monkeypatch.setattr(os, "fsync", lambda _: synced.append(path.read_bytes().splitlines()))
    for count, (key, each) in enumerate(PARTS.items(), start=1):
        journal.add(key, each)
        assert len(synced) == count
        assert len(synced[-1]) == 1 + count


ADDS = """
import sys
from pathlib import Path
from groundkit_evals.journal import Journal
from groundkit_evals.schema import Verdict
journal = Journal(Path(sys.argv[1]), Verdict, {})
for number in range(len(journal.done), 1_000_000):
    text = f"{number} " * 5_000
    journal.add(str(number), Verdict(faithful=True, unsupported_claims=(), reasoning=text))
    print(number, flush=True)
"""


def test_what_was_added_is_there_whenever_the_run_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "run"
    rng = random.Random(4)
    kept = 0
    for _ in range(5):
        adding = subprocess.Popen([sys.executable, "-c", ADDS, path], stdout=subprocess.PIPE)
        assert adding.stdout is not None
        told = [adding.stdout.readline() for _ in range(rng.randint(1, 30))]
        adding.kill()
        told += adding.communicate()[0].splitlines()
        assert adding.returncode == -signal.SIGKILL
        assert [int(line) for line in told] == list(range(kept, kept + len(told)))
        done = Journal(path, Verdict, {}).done
        assert kept + len(told) <= len(done) <= kept + len(told) + 1
        assert done == {str(number): part(f"{number} " * 5_000) for number in range(len(done))}
        kept = len(done)
