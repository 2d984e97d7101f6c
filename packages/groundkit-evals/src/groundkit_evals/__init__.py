"""Metrics, datasets and reports for groundkit collections."""

from groundkit_evals.dataset import Dataset
from groundkit_evals.load import load_dataset
from groundkit_evals.metrics import Difference, paired_difference
from groundkit_evals.runner import run
from groundkit_evals.schema import EvalReport, RunConfig
from groundkit_evals.scoring import evaluate, mean, scores

__all__ = [
    "Dataset",
    "Difference",
    "EvalReport",
    "RunConfig",
    "evaluate",
    "load_dataset",
    "mean",
    "paired_difference",
    "run",
    "scores",
]
