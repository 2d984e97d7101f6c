"""Where settings come from, which wins, and which are refused."""

from pathlib import Path

import pytest

from tests.cli.conftest import Invoke
from tests.cli.shell import Shell

USER_FILE = "home/.config/groundkit/config.toml"
PROJECT_FILE = "groundkit.toml"


def looked_for(invoke: Invoke, *flags: str, **env: str) -> str:
    """The place of the collection that a search was made in, relative to the folder."""
    ran = invoke("search", "x", *flags, **env)
    assert ran.exit_code == 3
    path = ran.stderr.removeprefix("grk: ").partition(": ")[0]
    return str(Path(path).relative_to(Path.cwd()))


def test_the_defaults_are_the_folder_groundkit_and_the_collection_default(invoke: Invoke) -> None:
    assert looked_for(invoke) == ".groundkit/default"


def test_flags_win_over_environment_over_user_file_over_project_file(
    grk: Shell, invoke: Invoke
) -> None:
    grk.write(PROJECT_FILE, '[index]\ndir = "project"\ncollection = "project"\n')
    assert looked_for(invoke) == "project/project"
    grk.write(USER_FILE, '[index]\ncollection = "user"\n')
    assert looked_for(invoke) == "project/user"
    grk.write(USER_FILE, '[index]\ndir = "user"\ncollection = "user"\n')
    assert looked_for(invoke) == "user/user"
    env = {"GROUNDKIT__INDEX__DIR": "env"}
    assert looked_for(invoke, **env) == "env/user"
    env["GROUNDKIT__INDEX__COLLECTION"] = "env"
    assert looked_for(invoke, **env) == "env/env"
    assert looked_for(invoke, "--index-dir", "flag", **env) == "flag/env"
    assert looked_for(invoke, "--collection", "flag", **env) == "env/flag"


def test_the_user_file_follows_the_xdg_folder(grk: Shell, invoke: Invoke) -> None:
    grk.write("xdg/groundkit/config.toml", '[index]\ndir = "xdg"\n')
    assert looked_for(invoke, XDG_CONFIG_HOME=str(grk.folder / "xdg")) == "xdg/default"


def test_a_home_folder_in_a_setting_is_the_home_folder(grk: Shell, invoke: Invoke) -> None:
    grk.write(USER_FILE, '[index]\ndir = "~/index"\n')
    assert looked_for(invoke) == "home/index/default"


def test_settings_shape_a_new_collection_and_flags_add_to_them(grk: Shell) -> None:
    grk.write(PROJECT_FILE, '[index]\nlanguage = "german"\n[chunking]\nsize = 50\noverlap = 5\n')
    env = {"GROUNDKIT__CHUNKING__UNIT": "characters"}
    grk("ingest", "docs", "--chunk-size", "60", env=env)
    shown = grk("collections", "show", "--json").json
    assert shown["language"] == "german"
    assert shown["chunking"] == {
        "strategy": "structure",
        "size": 60,
        "overlap": 5,
        "unit": "characters",
    }


WRONG = {
    "an unknown key": ("[index]\nfolder = 'x'\n", "index.folder"),
    "an unknown section": ("[serve]\nport = 1\n", "serve.port"),
    "an unknown section without keys": ("[serve]\n", "serve"),
    "a key outside a section": ("dir = 'x'\n", "dir"),
    "a section inside a section": ("[index.more]\ndir = 'x'\n", "index.more"),
    "a number for a text": ("[index]\ndir = 1\n", "index.dir"),
    "a list for a text": ("[index]\ncollection = ['a']\n", "index.collection"),
    "an empty folder": ("[index]\ndir = ''\n", "index.dir"),
    "an empty collection": ("[index]\ncollection = ''\n", "index.collection"),
    "a folder with a NUL": ('[index]\ndir = "a\\u0000b"\n', "index.dir"),
    "a text for a number": ("[chunking]\nsize = 'many'\n", "chunking.size"),
    "a truth for a number": ("[chunking]\nsize = true\n", "chunking.size"),
    "a fraction for a number": ("[chunking]\nsize = 10.0\n", "chunking.size"),
    "a quoted number": ("[chunking]\nsize = '10'\n", "chunking.size"),
    "a size of nothing": ("[chunking]\nsize = 0\n", "chunking.size"),
    "an unknown unit": ("[chunking]\nunit = 'parsecs'\n", "chunking.unit"),
    "no TOML": ("[index\n", "line 1"),
    "no UTF-8": (b"\xff", ""),
}


CASES = [
    *(pytest.param(PROJECT_FILE, *case, id=name) for name, case in WRONG.items()),
    *(
        pytest.param(USER_FILE, *WRONG[name], id=f"{name} in the user's file")
        for name in ("an unknown key", "a number for a text", "no TOML")
    ),
]


@pytest.mark.parametrize(("file", "content", "named"), CASES)
def test_a_wrong_file_stops_the_run_and_the_message_names_file_and_key(
    grk: Shell, invoke: Invoke, file: str, content: str | bytes, named: str
) -> None:
    grk.write(file, content)
    ran = invoke("ingest", "docs")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert len(ran.stderr.splitlines()) == 1
    assert ran.stderr.startswith("grk: ")
    assert Path(file).name in ran.stderr
    assert named in ran.stderr
    assert not (grk.folder / ".groundkit").exists()


@pytest.mark.parametrize(
    ("name", "value", "key"),
    [
        ("GROUNDKIT__INDEX__FOLDER", "x", "index.folder"),
        ("GROUNDKIT__SERVE__PORT", "1", "serve.port"),
        ("GROUNDKIT__INDEX", "x", "GROUNDKIT__INDEX"),
        ("GROUNDKIT__CHUNKING__SIZE", "many", "GROUNDKIT__CHUNKING__SIZE"),
        ("GROUNDKIT__INDEX__DIR", "", "GROUNDKIT__INDEX__DIR"),
    ],
)
def test_a_wrong_variable_stops_the_run_and_is_named(
    invoke: Invoke, name: str, value: str, key: str
) -> None:
    ran = invoke("ingest", "docs", **{name: value})
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert key in ran.stderr
    assert name in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", ["search x", "collections list"])
def test_a_wrong_file_stops_commands_that_do_not_need_the_key(indexed: Shell, command: str) -> None:
    indexed.write(PROJECT_FILE, "[chunking]\nsize = 'many'\n")
    indexed(*command.split(), code=2)


@pytest.mark.parametrize(
    ("content", "key"),
    [
        ("[chat]\nbase_url = 'http://collector.example'\n", "chat.base_url"),
        ("[chat]\napi_key_env = 'AWS_SECRET_ACCESS_KEY'\n", "chat.api_key_env"),
        ("[chat]\nallow_private_endpoint = true\n", "chat.allow_private_endpoint"),
        ("[embedding]\nbase_url = 'http://collector.example'\n", "embedding.base_url"),
    ],
)
def test_a_project_file_may_not_say_where_texts_and_secrets_go(
    indexed: Shell, content: str, key: str
) -> None:
    indexed.write(PROJECT_FILE, content)
    ran = indexed("search", "valve", code=2)
    assert ran.out == ""
    assert ran.err.startswith(f"grk: {PROJECT_FILE}: ")
    assert key in ran.err
    assert str(indexed.folder / USER_FILE) in ran.err
    assert "collector.example" not in ran.err


def test_other_variables_of_the_environment_are_nobodys_business(invoke: Invoke) -> None:
    assert (
        looked_for(invoke, GROUNDKIT_OTHER="1", GROUNDKITX__INDEX__DIR="x") == ".groundkit/default"
    )


def test_help_works_whatever_the_settings_say(grk: Shell) -> None:
    grk.write(PROJECT_FILE, "[index\n")
    assert "Usage: grk search" in grk("search", "--help").out
