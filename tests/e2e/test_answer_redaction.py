"""What `grk answer` puts on the wire from documents that hold sensitive values."""

import json
from base64 import b64encode, urlsafe_b64encode
from urllib.parse import quote, quote_plus

import pytest
from groundkit_providers.redaction import DEFAULT_PATTERNS

from tests.cli.shell import Shell
from tests.e2e.asking import Protocol, ask
from tests.e2e.planted import PLANTED, traces
from tests.e2e.recorder import Recorder

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1200)]

BRANCHES = ("Alder", "Birch", "Cedar", "Hazel", "Larch")
QUESTION = f"What does the branch do for which one writes to {PLANTED[0].value}?"


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A shell beside five indexed documents, one passage and four values each."""
    shell = Shell(tmp_path_factory.mktemp("planted"))
    for number, branch in enumerate(BRANCHES):
        sentences = [planted.sentence for planted in PLANTED[number * 4 : number * 4 + 4]]
        text = f"# The {branch} branch\n\n" + "\n".join(sentences)
        shell.write(f"docs/{branch}.md", text)
    shell("ingest", "docs")
    passages = shell("search", QUESTION, "--top-k", "5", "--json").json["results"]
    shown = "\n".join(passage["content"] for passage in passages)
    assert [planted.kind for planted in PLANTED if planted.value not in shown] == []
    return shell


def wire(
    shell: Shell,
    recorders: tuple[Recorder, ...],
    model: str,
    protocol: Protocol,
    *flags: str,
) -> bytes:
    """All bytes of an answer with a verdict and of one with a rewrite, at every recorder."""
    before = [recorder.connections for recorder in recorders]
    limits = ("--top-k", "5", "--chat-max-output-tokens", "200")
    for step in ("--judge", "--rewrite"):
        ask(shell, QUESTION, recorders[0], model, protocol, *limits, step, *flags, may_be_cut=True)
    sent = b"".join(recorder.sent(first) for recorder, first in zip(recorders, before, strict=True))
    assert [branch for branch in BRANCHES if branch.encode() not in sent] == []
    return sent


def found(sent: bytes) -> dict[str, list[str]]:
    """The kinds whose values were sent, with the forms they were sent in."""
    return {
        f"{number} {planted.kind}": forms
        for number, planted in enumerate(PLANTED)
        if (forms := traces(planted.value, sent))
    }


def test_every_default_kind_is_planted() -> None:
    assert {planted.kind for planted in PLANTED} == {pattern.name for pattern in DEFAULT_PATTERNS}
    assert len({planted.value for planted in PLANTED}) == 20


def test_a_value_leaves_a_trace_in_every_form() -> None:
    for kind, value, sentence in PLANTED:
        for escape in (json.dumps, quote, quote_plus):
            assert traces(value, escape(sentence).encode()), kind
        for before in ("", "a", "ab"):
            for encode in (b64encode, urlsafe_b64encode):
                assert traces(value, encode((before + sentence).encode())) == ["base64"], kind


def test_no_value_reaches_an_openai_compatible_server(shell: Shell, smollm2: Recorder) -> None:
    sent = wire(shell, (smollm2,), "smollm2", "openai_compatible")
    assert found(sent) == {}


def test_no_value_reaches_an_ollama_server_when_redaction_is_asked_for(
    shell: Shell, ollama: Recorder, smollm2: Recorder
) -> None:
    sent = wire(shell, (ollama, smollm2), "small/smollm2", "ollama", "--redact")
    assert found(sent) == {}


def test_every_value_reaches_an_ollama_server_on_this_machine_unredacted(
    shell: Shell, ollama: Recorder, smollm2: Recorder
) -> None:
    sent = wire(shell, (ollama, smollm2), "small/smollm2", "ollama")
    assert len(found(sent)) == len(PLANTED)
