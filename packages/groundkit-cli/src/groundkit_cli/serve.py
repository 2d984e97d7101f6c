"""`grk serve` and `grk serve-mcp`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundkit_cli import embed_options as embed
from groundkit_cli.options import CollectionName, IndexDir, Roots, parse_roots
from groundkit_cli.output import reported
from groundkit_cli.settings import load_settings

if TYPE_CHECKING:
    from groundkit_cli.service.runtime import Runtime

_TOKEN_ENV = "GROUNDKIT_SERVE_TOKEN"
_SHORTEST_TOKEN = 16

_Concurrency = Annotated[
    int | None,
    typer.Option("--concurrency", help="Most requests at once; others get 503. [default: 128]"),
]
_Timeout = Annotated[
    float | None, typer.Option("--timeout", help="Seconds for a request. [default: 30]")
]
_MaxTopK = Annotated[
    int | None, typer.Option("--max-top-k", help="Most results of a search. [default: 100]")
]
_MaxRequest = Annotated[
    int | None, typer.Option("--max-request-bytes", help="Largest request. [default: 65536]")
]
_MaxResponse = Annotated[
    int | None,
    typer.Option("--max-response-bytes", help="Largest response; more is paged. [default: 100000]"),
]
_LogLevel = Annotated[
    str, typer.Option("--log-level", help="debug, info, warning or error, as JSON on stderr.")
]


@reported
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes a free one.")] = 8000,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option("--allowed-host", metavar="NAME", help="A further name of this server."),
    ] = None,
    allowed_origin: Annotated[
        list[str] | None,
        typer.Option(
            "--allowed-origin", metavar="ORIGIN", help="Pages that may ask: https://app.example."
        ),
    ] = None,
    token_env: Annotated[
        str | None,
        typer.Option(
            "--token-env",
            metavar="VARIABLE",
            help=f"Variable that holds the bearer token; needed on other than this machine's "
            f"addresses. [default: {_TOKEN_ENV}]",
        ),
    ] = None,
    concurrency: _Concurrency = None,
    timeout: _Timeout = None,
    max_top_k: _MaxTopK = None,
    max_request_bytes: _MaxRequest = None,
    max_response_bytes: _MaxResponse = None,
    log_level: _LogLevel = "info",
    embed_provider: embed.Provider = None,
    embed_model: embed.Model = None,
    embed_base_url: embed.BaseUrl = None,
    embed_api_key_env: embed.ApiKeyEnv = None,
    embed_allow_private: embed.AllowPrivate = False,
    embed_timeout: embed.Timeout = None,
    index_dir: IndexDir = None,
    collection: CollectionName = None,
    root: Roots = None,
) -> None:
    """Serve search over HTTP: a page, REST, MCP."""
    _need_extra()
    from groundkit_cli.service import server
    from groundkit_cli.service.guard import Access
    from groundkit_cli.service.rest import application

    token = _token(token_env)
    runtime = _runtime(
        index_dir,
        collection,
        root,
        log_level,
        embed.given(
            embed_provider,
            embed_model,
            embed_base_url,
            embed_api_key_env,
            embed_allow_private,
            embed_timeout,
        ),
        top_k=max_top_k,
        request_bytes=max_request_bytes,
        response_bytes=max_response_bytes,
        concurrency=concurrency,
        seconds=timeout,
    )
    if token is None and not server.is_loopback(host):
        from groundkit_core.errors import ConfigurationError

        raise ConfigurationError(
            f"--host {host} can be reached from other machines: set a token in {_TOKEN_ENV}"
        )
    access = Access.of(allowed_host or (), allowed_origin or (), token)
    listening = server.bound(host, port)
    code = server.run(application(runtime, access), runtime, listening)
    raise typer.Exit(code)


@reported
def serve_mcp(
    timeout: _Timeout = None,
    max_top_k: _MaxTopK = None,
    max_response_bytes: _MaxResponse = None,
    log_level: _LogLevel = "info",
    embed_provider: embed.Provider = None,
    embed_model: embed.Model = None,
    embed_base_url: embed.BaseUrl = None,
    embed_api_key_env: embed.ApiKeyEnv = None,
    embed_allow_private: embed.AllowPrivate = False,
    embed_timeout: embed.Timeout = None,
    index_dir: IndexDir = None,
    collection: CollectionName = None,
    root: Roots = None,
) -> None:
    """Serve search to an assistant (MCP on stdio)."""
    _need_extra()
    from groundkit_cli.service import stdio

    runtime = _runtime(
        index_dir,
        collection,
        root,
        log_level,
        embed.given(
            embed_provider,
            embed_model,
            embed_base_url,
            embed_api_key_env,
            embed_allow_private,
            embed_timeout,
        ),
        top_k=max_top_k,
        response_bytes=max_response_bytes,
        seconds=timeout,
    )
    stdio.run(runtime)


def _need_extra() -> None:
    from importlib.util import find_spec

    missing = [name for name in ("fastapi", "mcp", "uvicorn") if find_spec(name) is None]
    if missing:
        from groundkit_core.errors import ConfigurationError

        raise ConfigurationError(
            f"{missing[0]} is not installed; run: pip install 'groundkit-cli[serve]'"
        )


def _runtime(
    index_dir: Path | None,
    collection: str | None,
    root: list[str] | None,
    log_level: str,
    flags: dict[str, Any],
    **limits: float | None,
) -> "Runtime":
    """What answers requests, after the default collection was found to be there."""
    from groundkit_core.errors import ConfigurationError
    from groundkit_core.index.names import collection_name

    from groundkit_cli.service.limits import Limits
    from groundkit_cli.service.logs import LEVELS, log_to_stderr
    from groundkit_cli.service.runtime import Runtime
    from groundkit_cli.service.shelf import Shelf

    if log_level not in LEVELS:
        raise ConfigurationError(f"--log-level {log_level}: it is {', '.join(LEVELS)}")
    given: dict[str, Any] = {key: value for key, value in limits.items() if value is not None}
    settings = load_settings()
    shelf = Shelf(
        (index_dir or settings.index_dir).absolute(),
        collection_name(collection or settings.collection),
        roots=parse_roots(root),
        make_embedder=lambda held: embed.embedder_for(settings.embed, held, flags),
    )
    runtime = Runtime(shelf, Limits(**given))
    shelf.check_default()
    log_to_stderr(log_level)
    return runtime


def _token(variable: str | None) -> str | None:
    """The token that requests have to bring; None where none is set."""
    import os

    from groundkit_core.errors import ConfigurationError

    name = variable or _TOKEN_ENV
    token = os.environ.get(name)
    if token is None:
        if variable is not None:
            raise ConfigurationError(f"--token-env {variable}: the variable is not set")
        return None
    plain = token.isascii() and token.isprintable() and " " not in token
    if len(token) < _SHORTEST_TOKEN or not plain:
        raise ConfigurationError(
            f"{name}: a token has at least {_SHORTEST_TOKEN} ASCII characters and no blanks"
        )
    return token
