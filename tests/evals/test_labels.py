"""Labels, and a threshold that was committed before they were used."""

import hashlib
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from groundkit_core.errors import ConfigurationError, EvalError
from groundkit_evals.labels import (
    Label,
    LabelSet,
    Preregistration,
    Threshold,
    file_hash,
    preregistration,
)
from groundkit_evals.schema import ModelIdentity
from pydantic import ValidationError

LABEL: dict[str, Any] = {"id": "a", "answer": "It stops.", "sources": ["It stops."]}
FIXED = Preregistration(
    labels_hash="0" * 64,
    judge=ModelIdentity(provider="scripted", model_name="scripted", prompt_hash="1" * 64),
    threshold=Threshold(agreement=0.9, unfaithful_precision=0.8, unfaithful_recall=0.7),
)


def git(folder: Path, *args: str) -> None:
    """Git in a folder, with an identity of its own and nobody's settings."""
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@fir-sample.org")
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(
        ["git", *identity, *args],
        cwd=folder,
        env={**os.environ, **settings},
        check=True,
        capture_output=True,
    )


def commit(file: Path) -> None:
    """Commit a file in its folder, in a repository that is made there if there is none above."""
    if not any((folder / ".git").exists() for folder in file.parents):
        git(file.parent, "init", "--quiet")
    git(file.parent, "add", "--", file.name)
    git(file.parent, "commit", "--quiet", "--allow-empty", "--message", "Fix it")


@pytest.fixture
def fixed(tmp_path: Path) -> Path:
    """A pre-registration that is not yet committed, and in no repository."""
    path = tmp_path / "fixed.json"
    path.write_text(FIXED.model_dump_json(), "utf-8")
    return path


def test_a_committed_preregistration_is_read(fixed: Path) -> None:
    commit(fixed)
    assert preregistration(fixed) == FIXED


@pytest.mark.parametrize("name", ["sub dir/fixed.json", "-fixed.json", "fixed [1].json", "ü.json"])
def test_it_may_stand_anywhere_in_a_repository(tmp_path: Path, name: str) -> None:
    git(tmp_path, "init", "--quiet")
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(FIXED.model_dump_json(), "utf-8")
    commit(path)
    assert preregistration(path) == FIXED


def test_it_may_be_named_from_its_own_folder(fixed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(fixed)
    monkeypatch.chdir(fixed.parent)
    assert preregistration(Path(fixed.name)) == FIXED


def no_repository(path: Path) -> None:
    """Leave it as it is."""
    assert not any((folder / ".git").exists() for folder in path.parents)


def never_added(path: Path) -> None:
    other = path.with_name("other.txt")
    other.write_text("Something.\n", "utf-8")
    commit(other)


def only_staged(path: Path) -> None:
    never_added(path)
    git(path.parent, "add", "--", path.name)


def no_commit_at_all(path: Path) -> None:
    git(path.parent, "init", "--quiet")
    git(path.parent, "add", "--", path.name)


def taken_out_again(path: Path) -> None:
    commit(path)
    git(path.parent, "rm", "--cached", "--quiet", "--", path.name)
    git(path.parent, "commit", "--quiet", "--message", "Take it out")


@pytest.mark.parametrize(
    "prepare", [no_repository, never_added, only_staged, no_commit_at_all, taken_out_again]
)
def test_one_that_is_not_committed_is_refused(fixed: Path, prepare: Callable[[Path], None]) -> None:
    prepare(fixed)
    with pytest.raises(ConfigurationError, match="it is not committed") as caught:
        preregistration(fixed)
    assert str(fixed) in str(caught.value)


@pytest.mark.parametrize("staged", [False, True])
def test_one_that_was_changed_since_is_refused(fixed: Path, staged: bool) -> None:
    commit(fixed)
    lower = Threshold(agreement=0.1, unfaithful_precision=0, unfaithful_recall=0)
    fixed.write_text(FIXED.model_copy(update={"threshold": lower}).model_dump_json(), "utf-8")
    if staged:
        git(fixed.parent, "add", "--", fixed.name)
    with pytest.raises(ConfigurationError, match="changed since it was committed"):
        preregistration(fixed)


def test_a_change_that_leaves_its_meaning_is_a_change_too(fixed: Path) -> None:
    commit(fixed)
    fixed.write_text(FIXED.model_dump_json(indent=2), "utf-8")
    with pytest.raises(ConfigurationError, match="changed since it was committed"):
        preregistration(fixed)


def test_without_git_it_is_said_that_git_is_needed(
    fixed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(fixed)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigurationError, match="git is needed"):
        preregistration(fixed)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "No such file or directory"),
        ("{", "Invalid JSON"),
        ("{}", "labels_hash: Field required"),
        ("[]", "it is no Preregistration"),
        (FIXED.model_dump_json().replace('"schema_version":1', '"schema_version":2'), "schema_ver"),
        (FIXED.model_dump_json().replace("0.9", "1.1"), "threshold.agreement"),
        (FIXED.model_dump_json().replace("0.9", "-0.1"), "threshold.agreement"),
        (FIXED.model_dump_json().replace("0.9", "NaN"), "Preregistration"),
        (FIXED.model_dump_json().replace("0.9", '"0.9"'), "threshold.agreement"),
        (FIXED.model_dump_json().replace("0.8", "2"), "threshold.unfaithful_precision"),
        (FIXED.model_dump_json().replace("0.7", "2"), "threshold.unfaithful_recall"),
        (FIXED.model_dump_json().replace('"judge"', '"jury"'), "judge"),
    ],
)
def test_what_is_no_preregistration_is_named(fixed: Path, content: str | None, said: str) -> None:
    fixed.unlink()
    if content is not None:
        fixed.write_text(content, "utf-8")
        commit(fixed)
    with pytest.raises(EvalError, match=said) as caught:
        preregistration(fixed)
    assert str(caught.value).startswith(f"{fixed}: ")


def test_a_set_of_labels_is_read() -> None:
    found = LabelSet.model_validate_json(
        '{"schema_version": 1, "rubric_hash": "x", "origin": "two of us", "labels": ['
        '{"id": "a", "question": "When?", "answer": "Now.", "sources": ["It is now."],'
        ' "faithful": true},'
        '{"id": "b", "answer": "Then.", "sources": ["s", "t"], "faithful": false}]}'
    )
    assert found.labels == (
        Label(id="a", question="When?", answer="Now.", sources=("It is now.",), faithful=True),
        Label(id="b", answer="Then.", sources=("s", "t"), faithful=False),
    )


NO_LABELS: dict[str, list[dict[str, Any]]] = {
    "none": [],
    "no verdict": [LABEL],
    "a string": [{**LABEL, "faithful": "true"}],
    "a number": [{**LABEL, "faithful": 1}],
    "null": [{**LABEL, "faithful": None}],
    "a score": [{**LABEL, "faithful": True, "score": 0.9}],
    "no source": [{**LABEL, "faithful": True, "sources": []}],
    "no answer": [{**LABEL, "faithful": True, "answer": ""}],
    "one id twice": [{**LABEL, "faithful": True}, {**LABEL, "faithful": False}],
}


@pytest.mark.parametrize("labels", NO_LABELS.values(), ids=NO_LABELS)
def test_labels_that_are_none_are_refused(labels: list[object]) -> None:
    written = json.dumps({"rubric_hash": "x", "origin": "us", "labels": labels})
    with pytest.raises(ValidationError):
        LabelSet.model_validate_json(written)


def test_the_hash_of_a_file_is_that_of_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "labels.json"
    path.write_bytes(b"\xff\r\n")
    assert file_hash(path) == hashlib.sha256(b"\xff\r\n").hexdigest()
    with pytest.raises(EvalError, match="No such file or directory"):
        file_hash(tmp_path / "none.json")
