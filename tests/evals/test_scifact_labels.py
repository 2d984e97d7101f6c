"""The labels that a judge is calibrated on are those of the committed pre-registration."""

from pathlib import Path

import pytest

from tests.shared_data import shared

pytest.importorskip("groundkit_providers", reason="calibration asks a model")

from groundkit_evals.artifacts import read_artifact
from groundkit_evals.dataset import hash_of
from groundkit_evals.labels import LabelSet, file_hash, preregistration

from scripts.scifact_labels import RUBRIC, main

FIXED = Path(__file__).parents[2] / "evals" / "calibration" / "scifact.json"


def test_the_sample_is_the_one_that_was_fixed(tmp_path: Path) -> None:
    shared("data", "faith_scifact_dev")
    main(str(tmp_path / "labels.json"))
    labels = read_artifact(tmp_path / "labels.json", LabelSet)
    assert file_hash(tmp_path / "labels.json") == preregistration(FIXED).labels_hash
    assert [label.faithful for label in labels.labels].count(True) == 20
    assert len(labels.labels) == 40
    assert labels.rubric_hash == hash_of([RUBRIC])
