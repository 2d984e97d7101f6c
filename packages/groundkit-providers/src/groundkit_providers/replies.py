"""What counts as a whole answer in what a server sent."""

import re
from typing import TypeVar

from groundkit_core.contracts import Contract
from groundkit_core.errors import ChatError, ChatReplyError, GroundkitError
from pydantic import ConfigDict, ValidationError

from groundkit_providers.http import Reply
from groundkit_providers.strict_json import check_json

__all__ = ["TRUNCATED", "FromServer", "answer_text", "parsed"]

TRUNCATED = "was cut off at its token limit, so its answer is truncated"

_THOUGHT = re.compile(r"\s*<(think|thinking)>.*?</\1>\s*", re.DOTALL | re.IGNORECASE)
_THOUGHT_TAG = re.compile(r"</?(?:think|thinking)\b", re.IGNORECASE)


class FromServer(Contract):
    """A reply's fields that are used; there are always others."""

    model_config = ConfigDict(extra="ignore")


_R = TypeVar("_R", bound=FromServer)


def parsed(
    shape: type[_R], reply: Reply, complaint: str, error: type[GroundkitError] = ChatError
) -> _R:
    """The reply in its expected shape; else `error`, beginning with the complaint."""
    problem = ""
    try:
        check_json(reply.body)
        return shape.model_validate_json(reply.body)
    except ValidationError as failure:
        first = failure.errors(include_input=False)[0]
        problem = f"{'.'.join(map(str, first['loc'])) or 'JSON'}: {first['msg']}"
    except ValueError as failure:
        problem = str(failure)
    raise error(f"{complaint} ({problem})")


def answer_text(content: str | None, reasoned: bool, who: str) -> str:
    """The reply without the reasoning before it; whoever lacks an answer has not answered."""
    text = content or ""
    if thought := _THOUGHT.match(text):
        text, reasoned = text[thought.end() :], True
    if _THOUGHT_TAG.search(text):
        raise ChatReplyError(f"{who}: reasoning tags stand elsewhere than once before the answer")
    if not text.strip():
        what = "reasoning but no answer text" if reasoned else "no answer text"
        raise ChatReplyError(f"{who}: the reply holds {what}")
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        pass
    raise ChatReplyError(f"{who}: the reply is not valid Unicode")
