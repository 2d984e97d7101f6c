"""What is written behind `--where`, and the other options that narrow a search."""

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from groundkit_core.retrieval.diversity import Diversity
    from groundkit_core.retrieval.filters import Filter

__all__ = ["NearDuplicates", "PerDocument", "Where", "diversity", "parse_meta", "parse_where"]

Where = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="FILTER",
        help="Find in these documents only: year>=2020, 'tag in a,b', source^=docs/, or JSON.",
    ),
]
PerDocument = Annotated[
    int | None, typer.Option("--per-document", help="Most passages of one document.")
]
NearDuplicates = Annotated[
    float | None,
    typer.Option(
        "--near-duplicates",
        metavar="SHARE",
        help="Leave out a passage that has this share of its wording, as 0.8, from a better one.",
    ),
]

_QUOTED = r'"(?:[^"\\]|\\.)*"'
_KEY = rf"\s*(?P<key>{_QUOTED}|[^\s\"=<>!~^]+)\s*"
_COMPARED = re.compile(
    rf"{_KEY}(?P<operator>!=|<=|>=|\^=|!~|=|<|>|~)\s*(?P<value>.*?)\s*", re.DOTALL
)
_LISTED = re.compile(rf"{_KEY}(?<=\s)(?P<negated>not\s+)?in\s+(?P<values>.*?)\s*", re.DOTALL)
_HELD = re.compile(rf"\s*(?P<negated>!?){_KEY}")
_ITEM = re.compile(rf"\s*(?P<item>{_QUOTED}|[^,\"]+?)\s*(?:,|\Z)")
_PLAIN = re.compile(r'[^"=<>~^][^"]*', re.DOTALL)
_IN_QUOTES = re.compile(_QUOTED, re.DOTALL)
_GIVEN = re.compile(rf"\s*(?P<key>{_QUOTED}|[^=\"]*?)\s*=(?P<value>.*)", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_NAMES = {
    "=": "equals",
    "!=": "equals",
    "<": "below",
    "<=": "at_most",
    ">": "above",
    ">=": "at_least",
    "^=": "prefix",
    "~": "glob",
    "!~": "glob",
}
_WORDING = "it must be KEY=VALUE, with = != < <= > >= ^= (begins with) ~ !~ (glob), KEY, !KEY, "
_WORDING += "'KEY in A,B', 'KEY not in A,B', or JSON"


def parse_where(given: list[str] | None) -> "Filter | None":
    """The filter that `--where` options are, all of which have to hold."""
    from groundkit_core.errors import ConfigurationError
    from groundkit_core.retrieval.filters import AllOf, why
    from pydantic import ValidationError

    found = [_parse(text) for text in given or []]
    if len(found) < 2:
        return found[0] if found else None
    try:
        return AllOf(all_of=tuple(found))
    except ValidationError as error:
        raise ConfigurationError(f"--where: {why(error)}") from None


def _parse(text: str) -> "Filter":
    from groundkit_core.errors import ConfigurationError
    from groundkit_core.retrieval.filters import read, why
    from pydantic import ValidationError

    if text.lstrip().startswith("{"):
        return read(text)
    try:
        found = _condition(text)
    except ValidationError as error:
        raise ConfigurationError(f"--where {text}: {why(error)}") from None
    if found is None:
        raise ConfigurationError(f"--where {text}: {_WORDING}")
    return found


def _condition(text: str) -> "Filter | None":
    from groundkit_core.retrieval.filters import Condition, NoneOf

    if match := _LISTED.fullmatch(text):
        values = _items(match["values"])
        if values is None:
            return None
        found: Filter = Condition(key=_text(match["key"]), one_of=values)
        return NoneOf(none_of=(found,)) if match["negated"] else found
    if match := _COMPARED.fullmatch(text):
        name, written = _NAMES[match["operator"]], match["value"]
        value = _text(written) if name in ("prefix", "glob") else _value(written)
        key = _text(match["key"])
        # What looks like the rest of an operator, or of a quote, is more likely a slip.
        if not written or not (_PLAIN.fullmatch(written) or _IN_QUOTES.fullmatch(written)):
            return None
        found = Condition.model_validate({"key": key, name: value})
        return NoneOf(none_of=(found,)) if match["operator"].startswith("!") else found
    if match := _HELD.fullmatch(text):
        return Condition(key=_text(match["key"]), exists=not match["negated"])
    return None


def _items(text: str) -> tuple[Any, ...] | None:
    """The values of a list; None if it is none."""
    found: list[Any] = []
    at = 0
    while at < len(text) or not found:
        match = _ITEM.match(text, at)
        if match is None:
            return None
        found.append(_value(match["item"]))
        at = match.end()
    return None if text.endswith(",") else tuple(found)


def _value(written: str) -> bool | int | float | str:
    """true, false and numbers are what they look like; in quotes they are text."""
    if written in ("true", "false") or _NUMBER.fullmatch(written):
        found: bool | int | float = _json(written)
        return found
    return _text(written)


def _text(written: str) -> str:
    """The text, out of its quotes if it has them."""
    return str(_json(written)) if _IN_QUOTES.fullmatch(written) else written


def _json(written: str) -> Any:
    import json

    from groundkit_core.errors import ConfigurationError

    try:
        return json.loads(written, strict=False)
    except ValueError:
        raise ConfigurationError(f"{written[:40]}: it is written as in JSON") from None


def parse_meta(given: list[str] | None) -> dict[str, Any]:
    """`KEY=VALUE` options; several of one key are several values, an empty value ends it."""
    from groundkit_core.errors import ConfigurationError

    found: dict[str, Any] = {}
    for option in given or []:
        match = _GIVEN.fullmatch(option)
        if match is None or not match["key"]:
            raise ConfigurationError(f"--meta {option}: it must be KEY=VALUE, or KEY= to end it")
        written = match["value"].strip()
        found.setdefault(_text(match["key"]), []).append(_value(written) if written else None)
    for key, values in found.items():
        if None in values:
            if len(values) > 1:
                raise ConfigurationError(f"--meta {key}: it is both set and ended")
            found[key] = None
    return found


def diversity(per_document: int | None, near_duplicates: float | None) -> "Diversity":
    """What `--per-document` and `--near-duplicates` ask for."""
    from groundkit_core.retrieval.diversity import Diversity

    return Diversity(per_document=per_document, near_duplicates=near_duplicates)
