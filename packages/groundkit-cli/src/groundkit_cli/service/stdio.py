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
    # What others left in the buffers of stdout must not follow the last message.
    with suppress(OSError):
        os.dup2(2, 1)
    runtime.close()
    event(logging.INFO, "stopped", code=0)


async def _serve(runtime: Runtime) -> None:
    loop = asyncio.get_running_loop()
    ending: asyncio.Queue[int] = asyncio.Queue()
    # Not on Windows, which has no such signal.
    with suppress(NotImplementedError):
        loop.add_signal_handler(signal.SIGTERM, ending.put_nowait, 0)
        loop.add_signal_handler(signal.SIGINT, ending.put_nowait, 130)
    watching = asyncio.create_task(_end(runtime, ending))
    await serve_stdio(runtime)
    watching.cancel()


async def _end(runtime: Runtime, ending: asyncio.Queue[int]) -> None:
    code = await ending.get()
    await runtime.idle(_GRACE)
    # The last reply is still to be written.
    await asyncio.sleep(0.2)
    event(logging.INFO, "stopped", code=code)
    # The thread that waits for stdin cannot be woken.
    os._exit(code)
