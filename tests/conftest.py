"""How many examples properties try, what is not measured, and figures that a run prints."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain

import pytest
from hypothesis import settings

from tests.note import Note
from tests.unmeasured import stop_coverage

# Many where everything is installed, few in the other runs.
settings.register_profile("brief", max_examples=15)


@pytest.fixture
def unmeasured(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No coverage of a test and of the processes that it starts: for runs by the hundred."""
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
    running = stop_coverage()
    yield
    if running is not None:
        running.start()


@pytest.fixture
def note(record_property: Callable[[str, object], None]) -> Note:
    """Keeps a line for the end of the run: what a worker of xdist prints is lost."""
    return partial(record_property, "note")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    notes = [
        f"{report.nodeid.partition('::')[2]}: {text}"
        for report in chain.from_iterable(terminalreporter.stats.values())
        if getattr(report, "when", None) == "call"
        for name, text in report.user_properties
        if name == "note"
    ]
    if notes:
        terminalreporter.section("figures")
        for line in notes:
            terminalreporter.write_line(line)
