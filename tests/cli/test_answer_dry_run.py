"""`--dry-run` shows what would be sent; redaction decides what that is."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from groundkit_cli.documents import DryRun
from groundkit_providers.budget import estimate_tokens

from tests.cli.answering_helpers import answered, ask, ollama, openai
from tests.cli.shell import Shell
from tests.providers.faulty_server import FaultyServer

MAIL, PHONE, KEY = "ada@harbour.example", "+44 20 7946 0958", "sk-proj-4f9a8b7c6d5e4f3a2b1c0d9e"
Flags = Callable[[FaultyServer], tuple[str, ...]]


@pytest.fixture(scope="module")
def _private(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shell = Shell(tmp_path_factory.mktemp("private"))
    shell.write(
        "docs/crew.txt",
        f"Ask Ada Byron ({MAIL}, {PHONE}) about badge XK-4471. "
        f"Write to {MAIL} before the valve is shut.\n",
    )
    shell("ingest", "docs")
    return shell.folder


@pytest.fixture
def private(_private: Path, tmp_path: Path) -> Shell:
    """A shell with one indexed document that holds values to redact."""
    shutil.copytree(_private, tmp_path, dirs_exist_ok=True)
    return Shell(tmp_path)


def redacted(server: FaultyServer) -> tuple[str, ...]:
    return (*ollama(server), "--redact", "--redact-name", "Ada Byron")


def texts(body: dict[str, Any]) -> list[str]:
    """The texts of a request, whichever protocol it speaks."""
    if "messages" in body:
        return [message["content"] for message in body["messages"]]
    return [body["prompt"], body["system"]]


@pytest.mark.parametrize(("flags", "hides"), [(ollama, False), (redacted, True), (openai, True)])
def test_a_dry_run_prints_exactly_what_is_then_sent(
    private: Shell, flags: Flags, hides: bool
) -> None:
    protocol = "openai" if flags is openai else "ollama"
    with FaultyServer(answered("Ask [EMAIL_1] [1].", protocol)) as server:
        command = ("answer", "Ada Byron badge", "-k", "1", *flags(server))
        env = {"GROUNDKIT_OPENAI_API_KEY": KEY}
        dry = private(*command, "--dry-run", "--json", env=env)
        assert server.connections == 0
        real = private(*command, "--json", env=env)
    planned = DryRun.model_validate_json(dry.out)
    (request,) = server.requests
    assert planned.body == request.json
    assert planned.url == server.url + request.line.split()[1]
    assert planned.estimated_tokens == sum(map(estimate_tokens, texts(planned.body)))
    assert KEY not in dry.out + dry.err
    for value in (MAIL, PHONE):
        assert (value.encode() not in request.body) == hides
    assert (b"Ada Byron" not in request.body) == (flags is redacted)
    assert real.json["answer"] == f"Ask {MAIL if hides else '[EMAIL_1]'} [1]."
    assert MAIL in real.json["results"][0]["content"]


def test_a_dry_run_in_text_is_the_same_request(private: Shell) -> None:
    with FaultyServer(answered("Unused [1].")) as server:
        ran = private("answer", "badge", *redacted(server), "--dry-run")
        assert server.connections == 0
    first, text = ran.out.split("\n", 1)
    assert first == f"POST {server.url}/api/generate"
    body = json.loads(text)
    assert "Ask [PERSON_1] ([EMAIL_1], [PHONE_1])" in body["prompt"]
    tokens = sum(map(estimate_tokens, texts(body)))
    assert ran.err == f"about {tokens} tokens; nothing was sent\n"


def test_a_dry_run_without_a_hit_would_send_nothing(private: Shell) -> None:
    ran = ask(private, query="zebra", args=("--dry-run",), code=5)
    assert ran.out == ""
    assert len(ran.err.splitlines()) == 1


def test_redactions_are_counted_by_kind_and_never_shown(private: Shell) -> None:
    args = ("--redact", "--redact-name", "ada byron", "--redact-pattern", r"BADGE=XK-\d+")
    audit = ("--show-redactions", "--json")
    ran = ask(private, "Ask [1].", query=f"badge of {MAIL}", args=(*args, *audit, "-k", "1"))
    counted = "redacted: 1 BADGE, 3 EMAIL, 1 PERSON, 1 PHONE"
    assert counted in ran.err.splitlines()
    for value in (MAIL, PHONE, "XK-4471", "Ada"):
        assert value not in ran.err
    dry = ask(private, query="badge", args=(*args, *audit, "--dry-run", "-k", "1"))
    assert "redacted: 1 BADGE, 2 EMAIL, 1 PERSON, 1 PHONE" in dry.err.splitlines()


def test_nothing_redacted_is_said_too(indexed: Shell) -> None:
    ran = ask(indexed, "It stops [1].", args=("--redact", "--show-redactions"))
    assert ran.err.splitlines()[-1] == "redacted: nothing"


def test_a_token_in_the_answer_is_no_citation_and_its_value_is_back(private: Shell) -> None:
    args = ("--redact", "--redact-name", "Ada Byron", "--json", "-k", "1")
    ran = ask(private, "[PERSON_1] or [PERSON_2] knows [1].", query="badge", args=args)
    assert ran.json["answer"] == "Ada Byron or [PERSON_2] knows [1]."
    assert ran.json["citations"] == [ran.json["results"][0]["citation"]]


def test_the_users_file_says_what_else_is_redacted(private: Shell) -> None:
    private.write(
        "home/.config/groundkit/config.toml",
        "[redaction]\nnames = ['Ada Byron']\n[redaction.patterns]\nBADGE = 'XK-[0-9]+'\n",
    )
    ran = ask(private, query="badge", args=("--redact", "--dry-run", "--json"))
    sent = json.dumps(ran.json["body"])
    assert "Ask [PERSON_1] ([EMAIL_1], [PHONE_1]) about badge [BADGE_1]." in sent


def test_settings_of_redaction_apply_where_prompts_leave(private: Shell) -> None:
    private.write("home/.config/groundkit/config.toml", "[redaction]\nnames = ['Ada Byron']\n")
    flags = ("--chat-provider", "openai_compatible", "--chat-model", "m")
    command = ("answer", "badge", *flags, "--chat-base-url", "https://model.invalid", "--dry-run")
    assert "Ada Byron" not in private(*command).out
    assert "Ada Byron" in private("answer", "badge", "--dry-run").out
