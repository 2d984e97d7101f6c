"""JSON in which nothing is ambiguous."""

import json

__all__ = ["check_json"]


def check_json(text: str | bytes) -> None:
    """Refuse what is no JSON, a key that stands twice, NaN and Infinity, with `ValueError`."""
    try:
        json.loads(text, object_pairs_hook=_without_duplicates, parse_constant=_no_constant)
        return
    except RecursionError:
        problem = "it is nested too deeply"
    except UnicodeDecodeError:
        problem = "it is not UTF-8"
    except ValueError as error:
        problem = str(error)
    raise ValueError(f"no valid JSON: {problem}")


def _without_duplicates(pairs: list[tuple[str, object]]) -> None:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key stands twice")


def _no_constant(name: str) -> None:
    raise ValueError(f"there is {name} in it")
