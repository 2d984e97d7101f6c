"""Runs operations in threads, within the limits, and logs each request."""

import asyncio
import json
import logging
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Literal
from uuid import uuid4

from groundkit_core.contracts import Contract
from groundkit_core.errors import CollectionError, GroundkitError
from groundkit_core.retrieval.filters import why
from pydantic import ValidationError

from groundkit_cli.service.errors import ServiceError, service_error
from groundkit_cli.service.limits import Gate, Limits
from groundkit_cli.service.logs import event
from groundkit_cli.service.operations import OPERATIONS, Operation
from groundkit_cli.service.shelf import Shelf

__all__ = ["Reply", "Runtime", "Transport", "as_json", "new_request_id"]

Transport = Literal["rest", "mcp-http", "mcp-stdio"]

_logger = logging.getLogger("groundkit.serve")
_THREADS = 4
# Threads that compute side by side only take the interpreter from each other. So one computes at a
# time and the event loop waits for it; what takes longer waits for a source or an embedder.
_PATIENCE = 0.02
_LONGEST = 300


def new_request_id() -> str:
    """An id that a client and the log share."""
    return uuid4().hex


@dataclass(frozen=True, slots=True)
class Reply:
    """A response, or what is told of the error that stands in its place."""

    body: Contract
    error: ServiceError | None = None


class Runtime:
    """What both protocols call."""

    def __init__(self, shelf: Shelf, limits: Limits) -> None:
        self.shelf = shelf
        self.limits = limits
        self._gate = Gate(limits.concurrency)
        self._turn = asyncio.Lock()
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="operation")

    async def call(
        self, name: str, arguments: bytes, *, transport: Transport, request_id: str
    ) -> Reply:
        """Answer one request, given as JSON; never raises what a request or a collection caused."""
        began = time.perf_counter()
        body: Contract | None = None
        error: ServiceError | None = None
        try:
            operation = OPERATIONS.get(name)
            if operation is None:
                raise ServiceError("not_found", f"there is no operation {name[:64]!a}")
            body = await self._run(operation, _read(operation, arguments))
        except GroundkitError as caught:
            error = service_error(caught)
            # Its frames would keep a deleted collection's files open.
            caught.__traceback__ = None
        except Exception:
            fields = {"event": "internal_error", "request_id": request_id}
            _logger.exception("internal_error", extra={"fields": fields})
            error = ServiceError("internal_error", "the server failed; its log says where")
        event(
            logging.INFO,
            "request",
            request_id=request_id,
            transport=transport,
            operation=name if name in OPERATIONS else None,
            ms=round(1000 * (time.perf_counter() - began), 2),
            collection=getattr(body, "collection", None),
            results=_count(body),
            code=error.code if error else "ok",
            detail=error.detail if error else None,
        )
        if body is None:
            failed = error or ServiceError("internal_error", "the server failed")
            return Reply(failed.failure(request_id), failed)
        return Reply(body)

    async def _run(self, operation: Operation, request: Contract) -> Contract:
        self._gate.enter()
        work: Future[Contract] | None = None
        try:
            async with asyncio.timeout(self.limits.seconds):
                async with self._turn:
                    work = self._pool.submit(self._work, operation, request)
                    work.add_done_callback(lambda _: self._gate.leave())
                    wait([work], timeout=_PATIENCE)
                    # Whatever came in meanwhile is looked at before the next one computes.
                    await asyncio.sleep(0)
                return work.result() if work.done() else await asyncio.wrap_future(work)
        except TimeoutError:
            message = f"no answer within {self.limits.seconds:g} s"
            raise ServiceError("timeout", message) from None
        finally:
            if work is None:
                self._gate.leave()

    def _work(self, operation: Operation, request: Contract) -> Contract:
        try:
            return operation.run(self.shelf, self.limits, request)
        except CollectionError:
            # While files go, any of them may be the first that is missed.
            self.shelf.check_exists(getattr(request, "collection", None))
            raise

    def ready(self) -> None:
        """Raise what keeps the default collection from being searched."""
        self.shelf.collection(None).summary()

    async def idle(self, seconds: float) -> None:
        """Wait until nothing runs, so long at most."""
        until = time.monotonic() + seconds
        while self._gate.inside and time.monotonic() < until:
            await asyncio.sleep(0.01)

    def close(self) -> None:
        """Take no more work; what runs is left to end."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self.shelf.close()


def _read(operation: Operation, arguments: bytes) -> Contract:
    try:
        return operation.request.model_validate_json(arguments)
    except (ValidationError, RecursionError) as error:
        raise ServiceError("invalid_request", why(error)[:_LONGEST]) from None


def _count(body: Any) -> int | None:
    for name in ("results", "passages", "collections"):
        if (found := getattr(body, name, None)) is not None:
            return len(found)
    return None


def as_json(arguments: object) -> bytes:
    """Arguments that a protocol has already parsed, as JSON again."""
    return json.dumps(arguments).encode()
