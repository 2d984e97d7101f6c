"""Front matter: the metadata that a Markdown file begins with, in YAML or TOML."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import yaml
from yaml.constructor import SafeConstructor
from yaml.error import Mark, MarkedYAMLError
from yaml.nodes import MappingNode, Node

from groundkit_core.errors import MetadataError
from groundkit_core.metadata import Metadata, normalised

__all__ = ["FrontMatter", "body_start", "front_matter"]

_FENCED = re.compile(
    r"\A(?:---[ \t]*(?=[\r\n]).*?[\r\n](?:---|\.\.\.)|\+\+\+[ \t]*(?=[\r\n]).*?[\r\n]\+\+\+)"
    r"[ \t]*(?:\r\n|\r|\n|\Z)",
    re.DOTALL,
)
_LONGEST = 64 * 1024
_DEEPEST = 50
_TOO_DEEP = f"nested more than {_DEEPEST} levels deep"
_COMMENTS = r"(?>\s*(?:#.*\n[ \t]*)*)"
_YAML_LIKE = re.compile(_COMMENTS + r"""(?:(?:["']?[\w.$-]+["']?|<<)[ \t]*:(?:\s|\Z)|\{(?![{%]))""")
_TOML_LIKE = re.compile(_COMMENTS + r"(?:[^=\n]+=|\[)")
_UNPRINTABLE = re.compile(r"[^\t\n -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NO_VALUES = {f"tag:yaml.org,2002:{kind}" for kind in ("binary", "omap", "pairs", "set")}
# tomllib takes time by the square of a dotted key's length.
_TOML_DEEP = re.compile(r"""(?:\.[ \t]*(?:[\w-]+|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*')[ \t]*+){50}""")
_TOML_LINE = re.compile(r"\(at line (\d+), column \d+\)\Z")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What a file says of itself, or why that could not be read."""

    metadata: Metadata = field(default_factory=dict)
    title: str | None = None
    problem: str | None = None


class _UnreadableError(Exception):
    """Why front matter cannot be read, and on which line of the file."""

    def __init__(self, why: str, line: int | None = None) -> None:
        super().__init__(f"{why} at line {line}" if line else why)


def front_matter(text: str) -> FrontMatter | None:
    """The front matter of a Markdown text; None for prose between two thematic breaks.

    A problem names the line and perhaps a key, never a value.
    """
    fenced = _FENCED.match(text)
    if fenced is None:
        return None
    # The line break of the opening fence stays, so that lines count as in the file.
    body = re.sub(r"\r\n?", "\n", fenced[0][3:]).lstrip(" \t").rstrip()[:-3]
    read, like = (_toml, _TOML_LIKE) if text.startswith("+") else (_yaml, _YAML_LIKE)
    try:
        if len(body) > _LONGEST:
            raise _UnreadableError(f"longer than {_LONGEST} characters")
        found = read(body)
        if not isinstance(found, Mapping):
            return None
        metadata = normalised(found)
    except _UnreadableError as error:
        if not like.match(body, 0, _LONGEST):
            return None
        return FrontMatter(problem=f"front matter: {error}")
    except MetadataError as error:
        return FrontMatter(problem=f"front matter: {error}")
    return FrontMatter(metadata, _title(metadata))


def body_start(text: str) -> int:
    """Where a Markdown text begins behind its front matter; 0 where it has none."""
    fenced = _FENCED.match(text)
    return fenced.end() if fenced and front_matter(text) else 0


def _title(metadata: Metadata) -> str | None:
    title = metadata.get("title")
    return " ".join(title.split()) or None if isinstance(title, str) else None


def _toml(body: str) -> object:
    if deep := _TOML_DEEP.search(body):
        raise _UnreadableError(_TOO_DEEP, _line(body, deep.start()))
    try:
        return tomllib.loads(body)
    except RecursionError:
        raise _UnreadableError(_TOO_DEEP) from None
    except tomllib.TOMLDecodeError as error:
        found = _TOML_LINE.search(str(error))
        line = int(found[1]) if found else _line(body, len(body.rstrip()))
        raise _UnreadableError("no valid TOML", line) from None
    except ValueError:  # a number of more digits than Python reads
        raise _UnreadableError("no valid TOML") from None


def _yaml(body: str) -> object:
    if found := _UNPRINTABLE.search(body):
        raise _UnreadableError("no valid YAML", _line(body, found.start()))
    loader = _Loader(body)
    try:
        document: object = loader.get_single_data()
    except MarkedYAMLError as error:
        why = str(error.problem) if isinstance(error, _RefusedError) else "no valid YAML"
        mark = error.problem_mark or error.context_mark
        raise _UnreadableError(why, _line(body, mark.index) if mark else None) from None
    finally:
        loader.dispose()
    # Comments alone are as well headings between two thematic breaks.
    return document if body.strip() else {}


def _line(text: str, at: int) -> int:
    # YAML counts further characters as line breaks.
    return text.count("\n", 0, at) + 1


class _RefusedError(MarkedYAMLError):
    """YAML that is not read, for a reason that quotes nothing of it."""

    def __init__(self, why: str, mark: Mark) -> None:
        super().__init__(problem=why, problem_mark=mark)


class _Strict(SafeConstructor):
    """The safe constructor without what is silent, endless or no value of metadata."""

    _depth = 0
    yaml_constructors: ClassVar = {
        tag: construct
        for tag, construct in SafeConstructor.yaml_constructors.items()
        if tag not in _NO_VALUES
    }

    def descend_resolver(self, current_node: Node | None, _: object) -> None:
        """Count levels while they are composed, which is recursion that nothing else bounds."""
        self._depth += 1
        if self._depth > _DEEPEST and current_node is not None:
            raise _RefusedError(_TOO_DEEP, current_node.start_mark)

    def ascend_resolver(self) -> None:
        self._depth -= 1

    def flatten_mapping(self, node: MappingNode) -> None:
        """Refuse merge keys: a few of them can multiply to any number of entries."""
        for key, _ in node.value:
            if key.tag == "tag:yaml.org,2002:merge":
                raise _RefusedError("the merge key << is not supported", key.start_mark)

    def construct_mapping(self, node: MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Refuse a key that stands twice."""
        mapping = super().construct_mapping(node, deep)
        if len(mapping) < len(node.value):
            seen = set()
            for key_node, _ in node.value:
                key = self.construct_object(key_node)
                if key in seen:
                    raise _RefusedError("the same key again", key_node.start_mark)
                seen.add(key)
        return mapping

    def construct_object(self, node: Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ValueError, OverflowError, LookupError, AttributeError):
            # What the constructors raise for 2024-13-45, `!!bool x`, `!!int ""` and such.
            raise _RefusedError("no valid YAML", node.start_mark) from None


# In C where PyYAML was built with libyaml, as its wheels are.
_BASE = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
_Loader: Any = type("_Loader", (_Strict, _BASE), {})
