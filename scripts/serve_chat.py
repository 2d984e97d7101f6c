"""Serve a GGUF model on loopback with llama.cpp: an OpenAI-compatible API at /v1.

Runs in an environment of its own, with xllamacpp alone in it:

    llama/bin/pip install xllamacpp==2026.10.11549
    llama/bin/python scripts/serve_chat.py MODEL.gguf --port 8101

It answers 503 while the model loads.
"""

import argparse
import sys
import threading


def main() -> None:
    """Serve until stopped, or until standard input ends if that is asked for."""
    parser = argparse.ArgumentParser(description="Serve a GGUF model on loopback.")
    parser.add_argument("model")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--context", type=int, default=8192, help="tokens")
    # Spinning threads beside another busy process are ten times slower.
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--end-with-stdin", action="store_true", help="do not outlive the parent")
    options = parser.parse_args()

    import xllamacpp  # type: ignore[import-not-found]

    params = xllamacpp.CommonParams()
    params.model.path = options.model
    params.n_ctx = options.context
    params.n_parallel = 1
    params.port = options.port
    params.cpuparams.n_threads = options.threads
    server = xllamacpp.Server(params)
    print(f"listening {server.listening_address}", flush=True)
    if options.end_with_stdin:
        sys.stdin.read()
    else:
        threading.Event().wait()


if __name__ == "__main__":
    main()
