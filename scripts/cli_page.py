"""Write docs/reference/cli.md from the commands and options of `grk`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from groundkit_cli.app import app
from typer.main import get_command

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "cli.md"
HEAD = """# Command line

`scripts/cli_page.py` makes this page from the program. `grk COMMAND --help` says the same.

Every command takes `--json`, and all but `grk eval` take `--index-dir`; those that use one
collection take `--collection` or its name. The defaults come from the [settings](settings.md).
Results go to stdout, remarks and progress to stderr. [Exit codes](exit-codes.md) tell what
happened.
"""


def page() -> str:
    """The page's text."""
    return HEAD + "".join(_sections("grk", get_command(app)))


def _sections(name: str, command: Any) -> Iterator[str]:
    for word, child in getattr(command, "commands", {}).items():
        if not hasattr(child, "commands") or child.invoke_without_command:
            yield _section(f"{name} {word}", child)
        yield from _sections(f"{name} {word}", child)


def _section(name: str, command: Any) -> str:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option"]
    usage = " ".join([name, *map(_placeholder, arguments), "[OPTIONS]"])
    rows = [(f"`{_metavar(one)}`", one) for one in arguments]
    rows += [(_option(one), one) for one in options]
    table = "\n".join(f"| {shown} | {_help(one)} |" for shown, one in rows)
    text = " ".join(command.help.split())
    head = "| argument or option | meaning |\n|---|---|"
    return f"\n## {name}\n\n    {usage}\n\n{text}\n\n{head}\n{table}\n"


def _metavar(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _placeholder(argument: Any) -> str:
    return _metavar(argument) if argument.required else f"[{_metavar(argument)}]"


def _option(one: Any) -> str:
    *short, long = sorted(one.opts, key=len)
    names = [*short, f"{long} {one.metavar}" if one.metavar else long]
    return ", ".join(f"`{name}`" for name in names)


def _help(one: Any) -> str:
    default = one.show_default if isinstance(one.show_default, str) else one.default
    notes = [str(one.help or ""), "May be repeated." if one.multiple else ""]
    notes += [f"Default: `{default}`." if isinstance(default, str | Path) else ""]
    return " ".join(filter(None, notes))


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
