"""Saying nothing where there is nothing to say."""

__all__ = ["abstention"]


def abstention(found: int) -> float:
    """Score of a query that nothing answers: 1 if nothing was returned, else 0."""
    return float(found == 0)
