"""The MCP server over stdin and stdout, and its end."""

import asyncio
import logging
import os
import signal
from contextlib import suppress

from groundkit_cli.service.logs import event
from groundkit_cli.service.mcp_server import serve_stdio
from groundkit_cli.service.runtime import Runtime

__all__ = ["run"]

_GRACE = 4.0


def run(runtime: Runtime) -> None:
    """Serve until stdin ends, or until SIGTERM comes."""
    asyncio.run(_serve(runtime))
    runtime.close()
    event(logging.INFO, "stopped", code=0)


async def _serve(runtime: Runtime) -> None:
    loop, ending = asyncio.get_running_loop(), asyncio.Event()
    # Not on Windows, which has no such signal.
    with suppress(NotImplementedError):
        loop.add_signal_handler(signal.SIGTERM, ending.set)
    watching = asyncio.create_task(_end(runtime, ending))
    await serve_stdio(runtime)
    watching.cancel()


async def _end(runtime: Runtime, ending: asyncio.Event) -> None:
    await ending.wait()
    await runtime.idle(_GRACE)
    event(logging.INFO, "stopped", code=0)
    # The thread that waits for stdin cannot be woken.
    os._exit(0)
