"""A reader that does what the bytes say, for tests of the process that it runs in."""

import ctypes
import os
import sys
import time

from groundkit_core.errors import RefusedError
from groundkit_core.loading.extracted import Extracted, TextBuilder


def extract(data: bytes, **options: object) -> Extracted:
    what, _, value = data.decode().partition(" ")
    if what == "sleep":
        time.sleep(float(value))
    elif what == "spin":
        while True:
            pass
    elif what == "refuse":
        raise RefusedError(value)
    elif what == "fail":
        raise ValueError(value)
    elif what == "memory":
        return Extracted("x" * int(value))
    elif what == "recursion":
        return extract(data)
    elif what == "crash":
        ctypes.string_at(0)
    elif what == "exit":
        os._exit(int(value))
    elif what == "print":
        print(value, flush=True)
        os.write(1, value.encode())
    elif what == "pid":
        return Extracted(str(os.getpid()))
    elif what == "path":
        return Extracted("\n".join(sys.path))
    builder = TextBuilder()
    builder.page()
    builder.heading(2, "Pumps")
    builder.page()
    builder.lined("a | b", header="x | y")
    return builder.extracted(
        title=str(options.get("title")),
        warnings=["odd"],
        partial="page 9 is missing",
        encoding="utf-8",
    )
