"""`grk answer` with a script, or with a server on loopback."""

import json
from collections.abc import Mapping

from tests.cli.shell import Ran, Shell
from tests.providers.dialects import DIALECTS
from tests.providers.faulty_server import Behaviour, FaultyServer, reply

__all__ = ["QUERY", "SCRIPTED", "answered", "ask", "ollama", "openai"]

QUERY = "stop the valve"
SCRIPTED = ("--chat-provider", "scripted", "--chat-script", "replies.json")


def ask(
    shell: Shell,
    *replies: str,
    args: tuple[str, ...] = (),
    query: str = QUERY,
    code: int = 0,
    env: Mapping[str, str] | None = None,
) -> Ran:
    """What `grk answer` does with a model that replies by script."""
    shell.write("replies.json", json.dumps(replies))
    return shell("answer", query, *SCRIPTED, *args, code=code, env=env)


def ollama(server: FaultyServer) -> tuple[str, ...]:
    """The flags for a server that speaks Ollama's API."""
    return ("--chat-base-url", server.url)


def openai(server: FaultyServer) -> tuple[str, ...]:
    """The flags for a server of one's own that speaks the OpenAI-compatible API."""
    return (
        *("--chat-provider", "openai_compatible", "--chat-model", "some-model"),
        *("--chat-base-url", server.url, "--chat-allow-private-endpoint"),
    )


def answered(text: str, protocol: str = "ollama") -> Behaviour:
    """A whole reply in one of the two protocols."""
    (dialect,) = (each for each in DIALECTS if each.name == protocol)
    return reply(dialect.answer(text))
