"""Help as a user reads it."""

from collections.abc import Iterator
from typing import Any

import pytest
import typer
from groundkit_cli.app import app

from tests.cli.shell import Shell


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, (*path, name))


ALL = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("path", ALL, ids=lambda path: " ".join(path) or "grk")
def test_help_is_plain_fits_eighty_columns_and_names_everything(
    grk: Shell, path: tuple[str, ...]
) -> None:
    out = grk(*path, "--help").out
    lines = out.splitlines()
    assert lines[0].startswith(" ".join(("Usage: grk", *path)))
    assert max(map(len, lines)) <= 80
    assert all(character == "\n" or character.isprintable() for character in out)
    assert out.isascii()
    for parameter in ALL[path].params:
        for option in (*parameter.opts, *parameter.secondary_opts):
            assert option in out or not option.startswith("-")
    for name in getattr(ALL[path], "commands", {}):
        assert f"\n  {name} " in out


@pytest.mark.parametrize("path", [(), ("collections",)], ids=["grk", "collections"])
def test_the_summary_of_no_command_is_cut(grk: Shell, path: tuple[str, ...]) -> None:
    assert "..." not in "".join(grk(*path, "--help").lines[1:])


def test_every_option_explains_itself() -> None:
    bare = [
        (path, parameter.name)
        for path, command in ALL.items()
        for parameter in command.params
        if not parameter.help
    ]
    assert bare == []


def test_help_on_a_terminal_is_the_same(grk: Shell) -> None:
    assert grk.terminal("search", "--help").out == grk("search", "--help").out


def test_help_of_a_narrow_terminal_fits(grk: Shell) -> None:
    lines = grk.terminal("search", "--help", columns=50).lines
    assert max(map(len, lines)) <= 50


def test_defaults_are_shown_without_riddles(grk: Shell) -> None:
    out = " ".join(grk("search", "--help").out.split())
    for default in ("10", ".groundkit", "default"):
        assert f"[default: {default}]" in out


def test_the_version_can_be_asked_for(grk: Shell) -> None:
    from importlib.metadata import version

    assert grk("--version").out == f"grk {version('groundkit-cli')}\n"
