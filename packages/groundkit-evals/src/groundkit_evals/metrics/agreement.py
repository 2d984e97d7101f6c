"""How often verdicts and labels agree; a missing verdict agrees with nothing."""

from collections.abc import Hashable, Sequence

__all__ = ["agreement", "class_precision", "class_recall"]


def agreement(labels: Sequence[Hashable], verdicts: Sequence[Hashable]) -> float:
    """Share of labels whose verdict is the same."""
    pairs = list(zip(labels, verdicts, strict=True))
    return sum(label == verdict for label, verdict in pairs) / len(pairs)


def class_precision(
    labels: Sequence[Hashable], verdicts: Sequence[Hashable], of: Hashable
) -> float | None:
    """Share of the verdicts of a class that its labels confirm; None without such a verdict."""
    said = [label for label, verdict in zip(labels, verdicts, strict=True) if verdict == of]
    return said.count(of) / len(said) if said else None


def class_recall(
    labels: Sequence[Hashable], verdicts: Sequence[Hashable], of: Hashable
) -> float | None:
    """Share of the labels of a class that verdicts found; None without such a label."""
    return class_precision(verdicts, labels, of)
