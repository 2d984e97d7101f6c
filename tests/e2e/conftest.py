import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak-seconds", type=int, default=120, help="how long the soak runs")
