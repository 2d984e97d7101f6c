"""The operations over REST, the page, and MCP beside them in one ASGI application."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fastapi import Depends, FastAPI, Request, Response
from fastapi.responses import FileResponse, JSONResponse
from fastapi.security import HTTPBearer
from groundkit_core.errors import GroundkitError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.staticfiles import StaticFiles

from groundkit_cli.service.errors import STATUS, ServiceError, service_error
from groundkit_cli.service.guard import Access, Guard, failed
from groundkit_cli.service.mcp_server import McpOverHttp
from groundkit_cli.service.operations import OPERATIONS, Operation
from groundkit_cli.service.responses import Failure, Health
from groundkit_cli.service.runtime import Reply, Runtime

__all__ = ["application"]

_PAGE = Path(__file__).with_name("page")
_Responses = dict[int | str, dict[str, Any]]
_JSON = "application/json"
_ABOUT = "Read-only search over documents; each passage has a citation that can be checked."


def application(runtime: Runtime, access: Access) -> FastAPI:
    """The whole service."""
    mcp = McpOverHttp(runtime)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with mcp.running():
            yield

    app = FastAPI(
        title="groundkit",
        version=version("groundkit-cli"),
        description=_ABOUT,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        exception_handlers={HTTPException: _http_error},
    )
    for operation in OPERATIONS.values():
        _add(app, runtime, operation, token=access.token is not None)
    _add_health(app, runtime)
    app.router.routes.append(mcp.route("/mcp"))
    app.add_api_route("/", _index, methods=["GET", "HEAD"], include_in_schema=False)
    app.mount("/page", StaticFiles(directory=_PAGE), name="page")
    limits = runtime.limits
    app.add_middleware(Guard, access=access, max_bytes=limits.request_bytes, seconds=limits.seconds)
    # Around the guard, so that a page of an allowed origin can read why it was refused.
    if access.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=sorted(access.origins),
            allow_methods=["GET", "POST"],
            allow_headers=["authorization", "content-type", "mcp-protocol-version"],
            expose_headers=["x-request-id", "retry-after"],
        )
    return app


def _add(app: FastAPI, runtime: Runtime, operation: Operation, *, token: bool) -> None:
    async def answer(request: Request) -> Response:
        request_id: str = request.state.request_id
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _JSON:
            return failed(
                ServiceError("unsupported_media_type", f"send Content-Type: {_JSON}"), request_id
            )
        body = await request.body()
        reply = await runtime.call(operation.name, body, transport="rest", request_id=request_id)
        return _response(reply, request_id)

    app.add_api_route(
        f"/v1/{operation.name}",
        answer,
        methods=["POST"],
        operation_id=operation.name,
        summary=operation.title,
        description=operation.description,
        response_model=operation.response,
        responses={status: {"model": Failure} for status in sorted({*STATUS.values()})},
        openapi_extra={"requestBody": _body(operation)},
        # For the schema; the guard has checked it before.
        dependencies=[Depends(HTTPBearer(auto_error=False))] if token else None,
    )


def _body(operation: Operation) -> dict[str, Any]:
    # With its own $defs, a schema within the schema.
    schema = operation.request.model_json_schema(ref_template=_REF.format(operation.name))
    return {"required": True, "content": {_JSON: {"schema": schema}}}


_REF = "#/paths/~1v1~1{}/post/requestBody/content/application~1json/schema/$defs/{{model}}"


def _response(reply: Reply, request_id: str) -> Response:
    if reply.error is not None:
        return failed(reply.error, request_id)
    return Response(reply.body.model_dump_json(), media_type=_JSON)


def _add_health(app: FastAPI, runtime: Runtime) -> None:
    async def healthz() -> Health:
        """Whether the process answers."""
        return Health(status="ok")

    def readyz(request: Request) -> Response:
        """Whether the default collection can be searched."""
        try:
            runtime.ready()
        except GroundkitError as error:
            told = service_error(error)
            body = told.failure(request.state.request_id).model_dump(mode="json")
            return JSONResponse(body, 503)
        return JSONResponse(Health(status="ready").model_dump(mode="json"))

    refused: _Responses = {status: {"model": Failure} for status in (403, 413, 421)}
    app.add_api_route("/healthz", healthz, methods=["GET"], responses=refused)
    unready = refused | {503: {"model": Failure}}
    app.add_api_route("/readyz", readyz, methods=["GET"], responses=unready, response_model=Health)


async def _index() -> Response:
    return FileResponse(_PAGE / "index.html")


async def _http_error(request: Request, error: Exception) -> Response:
    """What no route takes, in the form of every other error."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    codes = {404: "not_found", 405: "method_not_allowed"}
    told = ServiceError(codes.get(status, "invalid_request"), f"{request.method}: nothing is here")
    response = failed(told, request.state.request_id)
    if isinstance(error, HTTPException) and error.headers:
        response.headers.update(error.headers)
    return response
