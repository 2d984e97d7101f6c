"""The real `grk answer` against a server on loopback."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from groundkit_providers.answer import AnswerReport
from groundkit_providers.replies import TRUNCATED

from tests.cli.shell import Shell
from tests.e2e.recorder import Recorder

__all__ = ["Asked", "Protocol", "ask"]

Protocol = Literal["openai_compatible", "ollama"]
MODELS_FAULT = ("JudgeError", "QueryRewriteError", "SynthesisError")


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of a question: a report in a file, or the name of the error that refused it."""

    question: str
    protocol: Protocol
    file: Path
    report: AnswerReport | None
    error: str | None

    @property
    def outcome(self) -> str:
        if self.report is None:
            return f"rejected ({self.error})"
        return "cited" if self.report.citations else "abstained"

    def cites(self, fact: str) -> bool:
        """Whether a cited passage holds a fact."""
        return self.report is not None and any(
            result.citation in self.report.citations and fact in result.content
            for result in self.report.results
        )


def ask(
    shell: Shell,
    question: str,
    server: Recorder,
    model: str,
    protocol: Protocol,
    *flags: str,
    may_be_cut: bool = False,
) -> Asked:
    """Ask; what is no fault of the model, a reply cut at its limit too unless allowed, fails."""
    command = ["answer", question, "--json", "--chat-provider", protocol, "--chat-model", model]
    command += ["--chat-base-url", server.url, "--chat-timeout", "600", *flags]
    if protocol == "openai_compatible":
        command.append("--chat-allow-private-endpoint")
    with shell.start(*command) as process:
        out, err = process.communicate(timeout=1200)
    file = shell.folder / f"report{len(list(shell.folder.glob('report*.json')))}.json"
    file.write_bytes(out)
    if process.returncode == 0:
        return Asked(question, protocol, file, AnswerReport.model_validate_json(out), None)
    error = json.loads(out)["error"]
    if process.returncode == 5:
        assert error["type"] in MODELS_FAULT, error
    else:
        cut = process.returncode == 4 and TRUNCATED in error["message"]
        allowed = cut and may_be_cut
        assert allowed, f"exit {process.returncode}: {error}\n{err.decode()}"
    return Asked(question, protocol, file, None, error["type"])
