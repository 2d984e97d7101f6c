"""Error codes, one table for both protocols."""

from groundkit_core import errors as core

from groundkit_cli.service.responses import Failure, Problem

__all__ = ["STATUS", "ServiceError", "service_error"]

STATUS = {
    "invalid_request": 422,
    "response_too_large": 422,
    "unauthorized": 401,
    "forbidden_origin": 403,
    "not_found": 404,
    "collection_not_found": 404,
    "chunk_not_found": 404,
    "method_not_allowed": 405,
    "request_timeout": 408,
    "stale_cursor": 409,
    "request_too_large": 413,
    "unsupported_media_type": 415,
    "unknown_host": 421,
    "collection_unusable": 500,
    "internal_error": 500,
    "embedder_failed": 502,
    "overloaded": 503,
    "timeout": 504,
}
"""The HTTP status of each code."""

_SEE_LOG = "the server's log says more"


class ServiceError(core.GroundkitError):
    """A request that was not answered, with its code; `detail` is for the log only."""

    def __init__(self, code: str, message: str, *, detail: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.status = STATUS[code]
        self.detail = detail

    def failure(self, request_id: str) -> Failure:
        """What the client is told."""
        message = str(self).encode("utf-8", "backslashreplace").decode()
        return Failure(error=Problem(code=self.code, message=message, request_id=request_id))


def service_error(error: core.GroundkitError) -> ServiceError:
    """The error with its code; what may name a path of the machine goes to the log."""
    detail = str(error)
    if isinstance(error, ServiceError):
        return error
    if isinstance(error, core.PassageNotFoundError):
        return ServiceError("chunk_not_found", detail)
    if isinstance(error, core.RetrievalError | core.MetadataError):
        return ServiceError("invalid_request", detail)
    if isinstance(error, core.CollectionNotFoundError):
        return ServiceError("collection_not_found", "there is no such collection", detail=detail)
    if isinstance(error, core.EmbeddingError):
        message = f"the query could not be embedded; {_SEE_LOG}"
        return ServiceError("embedder_failed", message, detail=detail)
    message = f"the collection cannot be used; {_SEE_LOG}"
    return ServiceError("collection_unusable", message, detail=detail)
