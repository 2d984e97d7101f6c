"""Metrics as pure functions, one name a module."""

from groundkit_evals.metrics.abstention import abstention
from groundkit_evals.metrics.agreement import agreement, class_precision, class_recall
from groundkit_evals.metrics.difference import Difference, paired_difference
from groundkit_evals.metrics.kappa import cohen_kappa, kappa_interval
from groundkit_evals.metrics.latency import percentile
from groundkit_evals.metrics.ndcg import ndcg
from groundkit_evals.metrics.precision import precision
from groundkit_evals.metrics.proportion import wilson_interval
from groundkit_evals.metrics.recall import recall
from groundkit_evals.metrics.reciprocal_rank import reciprocal_rank
from groundkit_evals.metrics.spans import Span, span_iou, span_precision, span_recall

__all__ = [
    "Difference",
    "Span",
    "abstention",
    "agreement",
    "class_precision",
    "class_recall",
    "cohen_kappa",
    "kappa_interval",
    "ndcg",
    "paired_difference",
    "percentile",
    "precision",
    "recall",
    "reciprocal_rank",
    "span_iou",
    "span_precision",
    "span_recall",
    "wilson_interval",
]
