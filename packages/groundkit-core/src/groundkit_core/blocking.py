"""Awaiting something where nothing can be awaited."""

import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["result_of"]

T = TypeVar("T")


def result_of(work: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns; works inside a running loop too, as notebooks have one."""
    import asyncio  # a search by words alone does not need it

    running = True
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        running = False
    if not running:
        return asyncio.run(work)
    outcome: list[T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(asyncio.run(work))
        except BaseException as error:  # noqa: BLE001
            failure.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return outcome[0]
