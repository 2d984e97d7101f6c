"""Vectors from a server: what is sent and kept, and where the settings come from."""

import signal
import time
from collections.abc import Sequence

import pytest
from groundkit_core.index.collection import Collection

from tests.cli.answering_helpers import answered
from tests.cli.conftest import NOTES, Invoke
from tests.cli.shell import Shell, tree
from tests.cli.test_settings import PROJECT_FILE, USER_FILE
from tests.core.embedders.tiny_models import tiny_model
from tests.providers.embed_dialects import (
    DIMENSIONS,
    EMBED_DIALECTS,
    EmbedDialect,
    sent_texts,
    serving,
    with_both,
)
from tests.providers.faulty_server import FaultyServer, hang_up, silence

OLLAMA, OPENAI = EMBED_DIALECTS
KNOWN = ("--embed-dimensions", str(DIMENSIONS))
SEARCH = ("search", "ledger", "--mode", "dense")
CLOUD = ("--embed-provider", "openai_compatible", "--embed-model", "m")
AT_HOME = (*CLOUD, "--embed-base-url", "http://127.0.0.1:9", "--embed-allow-private-endpoint")
SECRET = "canary-7319"
TEXTS = [NOTES.strip(), "A spare gasket.", "A spare washer."]
BATCH = 32


def address(dialect: EmbedDialect, server: FaultyServer) -> tuple[str, ...]:
    """The flags that lead to a server."""
    private = () if dialect is OLLAMA else ("--embed-allow-private-endpoint",)
    return ("--embed-base-url", server.url, *private)


def model(dialect: EmbedDialect, server: FaultyServer) -> tuple[str, ...]:
    """The flags for a server and its model."""
    provider = "ollama" if dialect is OLLAMA else "openai_compatible"
    return ("--embed-provider", provider, "--embed-model", "m", *address(dialect, server))


def all_sent(server: FaultyServer) -> list[str]:
    return [text for request in server.requests for text in sent_texts(request)]


def vectors(shell: Shell) -> int:
    with Collection.open(shell.folder / ".groundkit/default") as collection:
        return collection.info().vectors


@pytest.fixture
def plain(grk: Shell) -> Shell:
    """A shell in a folder with four texts without headings, two of them equal."""
    (grk.folder / "docs/pump.md").unlink()
    for name, text in (("a", TEXTS[1]), ("b", TEXTS[2]), ("c", TEXTS[1])):
        grk.write(f"docs/{name}.txt", text)
    return grk


@pytest.fixture
def served(plain: Shell) -> Shell:
    """As `plain`, with vectors from an OpenAI-compatible server that is gone."""
    with FaultyServer(serving(OPENAI)) as server:
        plain("ingest", "docs", "--dense", *model(OPENAI, server), *KNOWN)
    return plain


@with_both
def test_each_distinct_text_is_sent_once_with_its_prefix_and_so_is_the_query(
    plain: Shell, dialect: EmbedDialect
) -> None:
    prefixes = ("--embed-document-prefix", "passage: ", "--embed-query-prefix", "query: ")
    with FaultyServer(serving(dialect)) as server:
        flags = (*model(dialect, server), *prefixes)
        report = plain("ingest", "docs", "--dense", *flags, "--json").json
        first, *rest = all_sent(server)
        assert first == "passage: dimensions"
        assert sorted(rest) == sorted(f"passage: {text}" for text in TEXTS)
        assert report["embedded"] == len(TEXTS)
        sent = len(server.requests)
        assert plain("ingest", "docs", "--dense", *address(dialect, server)).code == 0
        assert len(server.requests) == sent
        plain(*SEARCH, *address(dialect, server))
        assert all_sent(server)[len(TEXTS) + 1 :] == ["query: ledger"]
    assert {request.line for request in server.requests} == {f"POST {dialect.path} HTTP/1.1"}
    assert {request.json["model"] for request in server.requests} == {"m"}
    data = tree(plain.folder / ".groundkit").values()
    assert not any(server.url.encode() in (content or b"") for content in data)


@pytest.mark.parametrize("batch", [BATCH, 8, 64])
def test_a_server_that_dies_half_way_loses_no_finished_request(grk: Shell, batch: int) -> None:
    texts = [f"Page {number} speaks of valves." for number in range(200)]
    for number, text in enumerate(texts):
        grk.write(f"many/{number:03}.txt", text)
    size = ("--embed-batch-size", str(batch))
    whole = serving(OLLAMA, inputs=batch)
    with FaultyServer(whole, whole, hang_up) as dying:
        ran = grk("ingest", "many", "--dense", *model(OLLAMA, dying), *size, *KNOWN, code=4)
    assert [len(sent_texts(request)) for request in dying.requests] == [batch] * 3
    (line,) = ran.err.splitlines()
    assert f"many/{2 * batch:03}.txt" in line
    assert f"many/{2 * batch - 1:03}.txt" not in line
    assert vectors(grk) == 2 * batch
    assert len(grk("search", "valves", "--json").json["results"]) == 10
    with FaultyServer(whole) as server:
        report = grk("ingest", "many", "--dense", *address(OLLAMA, server), *size, "--json").json
    assert all_sent(server) == texts[2 * batch :]
    assert report["embedded"] == len(texts) - 2 * batch
    assert vectors(grk) == len(texts)


def test_an_interrupt_is_one_line_and_keeps_finished_vectors(grk: Shell) -> None:
    for number in range(2 * BATCH):
        grk.write(f"many/{number:03}.txt", f"Page {number} speaks of valves.")
    with FaultyServer(serving(OLLAMA), silence) as server:
        process = grk.start("ingest", "many", "--dense", *model(OLLAMA, server), *KNOWN)
        deadline = time.monotonic() + 60
        while len(server.requests) < 2:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"grk: interrupted\n")
    assert vectors(grk) == BATCH
    assert not (grk.folder / ".groundkit/default/writer.json").exists()


def test_a_change_of_models_that_dies_leaves_the_old_vectors_and_goes_on_later(
    grk: Shell,
) -> None:
    texts = [f"Page {number} speaks of valves." for number in range(BATCH + 8)]
    for number, text in enumerate(texts):
        grk.write(f"many/{number:03}.txt", text)
    grk("ingest", "many", "--dense", "--embed-provider", "inmemory")
    reindex = ("collections", "reindex", "--json")
    with FaultyServer(serving(OPENAI), hang_up) as dying:
        grk(*reindex, *model(OPENAI, dying), *KNOWN, code=4)
    info = grk("collections", "show", "--json").json
    assert info["embedding"] == "inmemory hashed-terms (64 dimensions)"
    assert info["vectors"] == len(texts)
    assert grk("search", "valves", "--mode", "dense").out
    with FaultyServer(serving(OPENAI)) as server:
        info = grk(*reindex, *model(OPENAI, server), *KNOWN).json
    assert all_sent(server) == texts[BATCH:]
    assert info["embedding"] == f"openai_compatible m ({DIMENSIONS} dimensions)"
    assert info["vectors"] == len(texts)


@pytest.mark.parametrize(("there", "code"), [(False, 3), (True, 2)], ids=["no collection", "none"])
def test_no_server_is_asked_where_there_are_no_vectors(grk: Shell, there: bool, code: int) -> None:
    if there:
        grk("ingest", "docs")
    with FaultyServer(serving(OLLAMA)) as server:
        grk(*SEARCH, *model(OLLAMA, server), code=code)
    assert server.connections == 0


def test_an_answer_is_made_with_vectors_from_a_server(served: Shell) -> None:
    chat = answered("It is in the safe [1].")
    with FaultyServer(serving(OPENAI)) as server, FaultyServer(chat) as model_server:
        flags = ("--mode", "hybrid", *address(OPENAI, server), "--chat-base-url", model_server.url)
        assert "[verified]" in served("answer", "ledger", *flags).out
    assert all_sent(server) == ["ledger"]
    assert len(model_server.requests) == 1


def test_a_model_in_a_folder_is_named_again_at_each_search(plain: Shell) -> None:
    tiny_model(plain.folder / "model")
    folder = ("--embed-model", "model")
    report = plain("ingest", "docs", "--dense", "--embed-provider", "onnx", *folder, "--json").json
    assert report["embedded"] == len(TEXTS)
    (line,) = plain(*SEARCH, code=2).err.splitlines()
    assert "--embed-model" in line
    assert len(plain(*SEARCH, *folder, "--json").json["results"]) == len(TEXTS)


def test_the_key_is_that_of_the_variable_named(served: Shell) -> None:
    keys = {"GROUNDKIT_OPENAI_API_KEY": "ours", "OTHER_KEY": "of-another-program"}
    sent = {None: "Bearer ours", "OTHER_KEY": "Bearer of-another-program", "": None}
    with FaultyServer(serving(OPENAI)) as server:
        for name in sent:
            flags = () if name is None else ("--embed-api-key-env", name)
            ran = served(*SEARCH, *address(OPENAI, server), *flags, env=keys)
            assert "another-program" not in ran.out + ran.err
    authorised = [request.headers.get("authorization") for request in server.requests]
    assert authorised == list(sent.values())


def test_a_search_asks_for_the_address_of_its_server(served: Shell) -> None:
    ran = served(*SEARCH, code=2)
    (line,) = ran.err.splitlines()
    assert "--embed-base-url" in line
    assert served("search", "ledger").out


def test_the_address_comes_from_the_environment_or_the_users_file(served: Shell) -> None:
    with FaultyServer(serving(OPENAI)) as server, FaultyServer() as unused:
        served.write(
            USER_FILE, f"[embed]\nbase_url = '{unused.url}'\nallow_private_endpoint = true\n"
        )
        env = {"GROUNDKIT__EMBED__BASE_URL": server.url}
        assert served(*SEARCH, env=env).out
        served.write(
            USER_FILE, f"[embed]\nbase_url = '{server.url}'\nallow_private_endpoint = true\n"
        )
        assert served(*SEARCH).out
    assert all_sent(server) == ["ledger"] * 2
    assert unused.connections == 0


def test_numbers_of_the_environment_make_a_new_collection(grk: Shell) -> None:
    env = {"GROUNDKIT__EMBED__PROVIDER": "inmemory", "GROUNDKIT__EMBED__DIMENSIONS": "48"}
    grk("ingest", "docs", "--dense", env=env)
    with Collection.open(grk.folder / ".groundkit/default") as collection:
        assert str(collection.embedding()) == "inmemory hashed-terms (48 dimensions)"


PROJECT = {
    "embed.base_url": "[embed]\nbase_url = 'http://collector.example'\n",
    "embed.api_key_env": "[embed]\napi_key_env = 'GROUNDKIT_OPENAI_API_KEY'\n",
    "embed.allow_private_endpoint": "[embed]\nallow_private_endpoint = true\n",
    "embed.provider": "[embed]\nprovider = 'openai_compatible'\n",
    "embed.model_name": "[embed]\nmodel_name = 'some-cloud'\n",
    "embed.document_prefix": "[embed]\ndocument_prefix = 'x'\n",
}


@pytest.mark.parametrize(("key", "content"), PROJECT.items(), ids=PROJECT.keys())
@pytest.mark.parametrize(
    "command", [("ingest", "docs", "--dense"), SEARCH], ids=["ingest", "search"]
)
def test_a_project_may_not_say_where_texts_and_keys_go(
    grk: Shell, invoke: Invoke, command: tuple[str, ...], key: str, content: str
) -> None:
    grk.write(PROJECT_FILE, content)
    with FaultyServer(serving(OLLAMA)) as server:
        ran = invoke(*command, *model(OLLAMA, server))
    assert (ran.exit_code, ran.stdout) == (2, "")
    (line,) = ran.stderr.splitlines()
    for named in (f"grk: {PROJECT_FILE}: ", key, str(grk.folder / USER_FILE), "environment"):
        assert named in line
    assert "collector" not in line
    assert server.connections == 0
    assert not (grk.folder / ".groundkit").exists()


OPTIONS: dict[str, Sequence[str]] = {
    "provider": ("inmemory",),
    "model": ("m",),
    "base-url": ("http://localhost:9",),
    "api-key-env": ("GROUNDKIT_X",),
    "allow-private-endpoint": (),
    "timeout": ("9",),
    "dimensions": ("64",),
    "document-prefix": ("x",),
    "query-prefix": ("x",),
    "batch-size": ("9",),
}
OF_A_SERVER = ("base-url", "api-key-env", "allow-private-endpoint", "timeout", "batch-size")
OF_A_SEARCH = ("provider", "model", "base-url", "api-key-env", "allow-private-endpoint", "timeout")
DENSE = ("ingest", "docs", "--dense")


def option(name: str) -> tuple[str, ...]:
    return (f"--embed-{name}", *OPTIONS[name])


NO_USE: dict[str, tuple[tuple[str, ...], str]] = {
    **{
        f"{name} without --dense": (("ingest", "docs", *option(name)), "--dense")
        for name in OPTIONS
    },
    **{
        f"{name} by words": (("search", "x", *option(name)), f"--embed-{name}")
        for name in OF_A_SEARCH
    },
    "a similarity by words": (("search", "x", "--min-similarity", "0.5"), "--min-similarity"),
    **{f"{name} in process": ((*DENSE, *option(name)), f"--embed-{name}") for name in OF_A_SERVER},
    "a language and vectors at once": (
        ("collections", "reindex", "--language", "german", *option("provider")),
        "--language",
    ),
    "vectors in a dry run": (("answer", "x", "--dry-run", "--mode", "hybrid"), "--mode"),
    "a key for Ollama": (
        (*DENSE, "--embed-provider", "ollama", "--embed-model", "m", *option("api-key-env")),
        "--embed-api-key-env",
    ),
    "dimensions of a folder": (
        (*DENSE, "--embed-provider", "onnx", "--embed-model", "m", *option("dimensions")),
        "--embed-dimensions",
    ),
}
WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "an unknown mode": (("search", "x", "--mode", "words"), "bm25, dense or hybrid"),
    "a similarity that is none": ((*SEARCH, "--min-similarity", "nan"), "--min-similarity"),
    "a similarity that nothing has": ((*SEARCH, "--min-similarity", "1.5"), "--min-similarity"),
    "an unknown provider": ((*DENSE, "--embed-provider", "cohere"), "embed.provider"),
    "another static model": ((*DENSE, *option("model")), "--embed-model"),
    "dimensions that the model lacks": ((*DENSE, "--embed-dimensions", "100"), "64, 128, 256"),
    "no dimensions": ((*DENSE, "--embed-dimensions", "0"), "embed.dimensions"),
    "no batch": ((*DENSE, *AT_HOME, "--embed-batch-size", "0"), "embed.batch_size"),
    "too large a batch": ((*DENSE, *AT_HOME, "--embed-batch-size", "513"), "embed.batch_size"),
    "no time": ((*DENSE, *AT_HOME, "--embed-timeout", "0"), "embed.timeout_seconds"),
    "endless time": ((*DENSE, *AT_HOME, "--embed-timeout", "inf"), "embed.timeout_seconds"),
    "a folder that is not named": ((*DENSE, "--embed-provider", "onnx"), "--embed-model"),
    "a model that is not named": ((*DENSE, "--embed-provider", "ollama"), "--embed-model"),
    "a server without an address": ((*DENSE, *CLOUD), "--embed-base-url"),
    "a private address without permission": (
        (*DENSE, *AT_HOME[:-1]),
        "--embed-allow-private-endpoint",
    ),
    "an address with credentials": (
        (*DENSE, *CLOUD, "--embed-base-url", f"https://me:{SECRET}@model.invalid"),
        "base_url",
    ),
    "a cloud without a key": (
        (*DENSE, *CLOUD, "--embed-base-url", "https://model.invalid", "--embed-api-key-env", ""),
        "api_key_env",
    ),
}


@pytest.mark.parametrize(
    ("args", "named"), [*NO_USE.values(), *WRONG.values()], ids=[*NO_USE, *WRONG]
)
def test_an_option_of_no_use_or_sense_is_named_before_any_work(
    grk: Shell, invoke: Invoke, args: tuple[str, ...], named: str
) -> None:
    ran = invoke(*args, GROUNDKIT_OPENAI_API_KEY=SECRET)
    assert (ran.exit_code, ran.stdout) == (2, "")
    (line,) = ran.stderr.splitlines()
    assert line.startswith("grk: ")
    assert named in line
    assert SECRET not in line
    assert not (grk.folder / ".groundkit").exists()


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (("--mode", "words"), "bm25, dense or hybrid"),
        (option("model"), "--embed-model"),
        (("--min-similarity", "0.5"), "--min-similarity"),
    ],
    ids=str,
)
def test_an_answer_refuses_them_before_a_model_is_asked(
    indexed: Shell, args: tuple[str, ...], named: str
) -> None:
    with FaultyServer() as chat:
        ran = indexed("answer", "x", "--chat-base-url", chat.url, *args, code=2)
    (line,) = ran.err.splitlines()
    assert named in line
    assert chat.connections == 0


def test_a_cloud_without_its_key_names_the_variable(invoke: Invoke) -> None:
    ran = invoke(*DENSE, *CLOUD, "--embed-base-url", "https://model.invalid")
    assert (ran.exit_code, ran.stdout) == (4, "")
    (line,) = ran.stderr.splitlines()
    assert "GROUNDKIT_OPENAI_API_KEY is not set" in line


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("[embed]\nmodel = 'm'\n", "embed.model"),
        ("[embed]\nprovider = 'x'\n", "embed.provider"),
        ("[embed]\ndimensions = 'many'\n", "embed.dimensions"),
        ("[embed.model_name]\nx = 1\n", "embed.model_name"),
        ("[embed]\napi_key_env = 'AWS_SECRET_ACCESS_KEY'\n", "GROUNDKIT_"),
    ],
)
def test_a_wrong_setting_of_the_user_is_an_error_that_names_it(
    grk: Shell, invoke: Invoke, content: str, named: str
) -> None:
    grk.write(USER_FILE, content)
    ran = invoke(*DENSE)
    assert (ran.exit_code, ran.stdout) == (2, "")
    (line,) = ran.stderr.splitlines()
    assert named in line
