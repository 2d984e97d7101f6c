"""The peer of `grk --help`: a Typer app with the same commands, whose bodies are empty."""

import typer
from typer.core import TyperGroup
from typer.main import get_command

__all__ = ["empty_app"]


def empty_app(app: typer.Typer) -> str:
    """Source of a module whose `main` runs an app with the commands and help of `app`."""
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    lines = ["import typer", "", *_group("app", group), "def main():", "    app()"]
    return "\n".join(lines) + "\n"


def _group(variable: str, group: TyperGroup) -> list[str]:
    settings = f"name={group.name!r}, help={group.help!r}"
    lines = [
        f"{variable} = typer.Typer({settings}, no_args_is_help=True, rich_markup_mode=None)",
        "",
    ]
    for name, command in group.commands.items():
        inner = f"{variable}_{name}".replace("-", "_")
        if isinstance(command, TyperGroup):
            lines += _group(inner, command)
            lines += [f"{variable}.add_typer({inner})", ""]
        else:
            lines += [
                f"@{variable}.command({name!r}, help={command.help!r})",
                f"def {inner}():",
                "    pass",
                "",
            ]
    return lines
