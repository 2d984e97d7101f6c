"""How much one request, and all of them at once, may take."""

import threading
from dataclasses import dataclass

from groundkit_core.config import MAX_TOP_K
from groundkit_core.errors import ConfigurationError

from groundkit_cli.service.errors import ServiceError

__all__ = ["Gate", "Limits"]

_LEAST_RESPONSE = 10_000
_LEAST_REQUEST = 1_000


@dataclass(frozen=True, slots=True)
class Limits:
    """Most results and bytes of a request, requests at once, and seconds for each."""

    top_k: int = MAX_TOP_K
    request_bytes: int = 65_536
    response_bytes: int = 100_000
    concurrency: int = 128
    seconds: float = 30.0

    def __post_init__(self) -> None:
        for option, value, least in (
            ("--max-top-k", self.top_k, 1),
            ("--max-request-bytes", self.request_bytes, _LEAST_REQUEST),
            ("--max-response-bytes", self.response_bytes, _LEAST_RESPONSE),
            ("--concurrency", self.concurrency, 1),
        ):
            if value < least:
                raise ConfigurationError(f"{option} {value}: it must be at least {least}")
        if self.top_k > MAX_TOP_K:
            raise ConfigurationError(f"--max-top-k {self.top_k}: it must be at most {MAX_TOP_K}")
        if not 0 < self.seconds < float("inf"):
            raise ConfigurationError(f"--timeout {self.seconds}: it must be above 0")


class Gate:
    """Lets so many in; a place is free again when its work ends, not when its client gives up."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._lock = threading.Lock()
        self.inside = 0

    def enter(self) -> None:
        """Take a place, or refuse at once."""
        with self._lock:
            if self.inside >= self._places:
                raise ServiceError(
                    "overloaded", "the server is answering as many requests as it may"
                )
            self.inside += 1

    def leave(self) -> None:
        """Give the place back."""
        with self._lock:
            self.inside -= 1
