import json
import os
import re
import shlex
import signal
import stat
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request

import pytest
import yaml
from packaging.specifiers import SpecifierSet

from scripts.servers import direct
from tests.cli.shell import GRK, Shell
from tests.docs.blocks import DOCS, blocks
from tests.e2e.serving import serving

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "container"
START = FOLDER / "serve"
SECRET = re.compile("token|secret|password|key", re.IGNORECASE)
TOKEN = "a-token-of-many-letters"


def instructions() -> list[tuple[str, str]]:
    """The Containerfile's instructions with what they are given."""
    text = (FOLDER / "Containerfile").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ").splitlines()
    return [(line.split()[0], line.partition(" ")[2].strip()) for line in joined if line.strip()]


def given(name: str) -> list[str]:
    return [value for instruction, value in instructions() if instruction == name]


def health(url: str) -> int:
    """The exit code of the image's health check, asking that address."""
    (value,) = given("HEALTHCHECK")
    python, *words = json.loads(value.partition(" CMD ")[2])
    assert python == "python3"
    asked = [word.replace("http://127.0.0.1:8000", url) for word in words]
    # A proxy that a container's environment names is passed by.
    env = {**os.environ, "http_proxy": "http://127.0.0.1:9"}
    command = [sys.executable, *map(str, asked)]
    return subprocess.run(command, env=env, stderr=subprocess.DEVNULL, check=False).returncode


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell(tmp_path)
    shell.write("notes/a.md", "# Hoses\n\nA hose holds 7 bar.\n")
    shell("ingest", "notes")
    return shell


@contextmanager
def started(shell: Shell, **env: str) -> Iterator["subprocess.Popen[bytes]"]:
    """The image's entry point on a free port of loopback, over the shell's index."""
    index = str(shell.folder / ".groundkit")
    options = ["--host", "127.0.0.1", "--port", "0", "--index-dir", index]
    path = f"{GRK.parent}{os.pathsep}{os.environ['PATH']}"
    with subprocess.Popen(
        [START, *options],
        cwd=shell.folder,
        env={**shell.env, "PATH": path, **env},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_what_the_image_copies_is_in_the_repository_and_not_ignored() -> None:
    sources = [value.split()[0] for value in given("COPY") if not value.startswith("--from")]
    assert sources == ["packages", "container/serve"]
    assert [source for source in sources if not (ROOT / source).exists()] == []
    kept = (FOLDER / "Containerfile.dockerignore").read_text(encoding="utf-8").split()
    assert {f"!{source}" for source in sources} <= set(kept)


def test_every_package_is_built_and_required_of_no_registry() -> None:
    (build, install) = given("RUN")[:2]
    listed = re.search(r"for name in ([a-z ]+);", build)
    names = {path.name.removeprefix("groundkit-") for path in ROOT.glob("packages/*")}
    assert listed is not None
    assert set(listed[1].split()) == names
    steps = [step for step in install.split("&&") if "pip install" in step]
    assert [("--no-deps" in step, "/wheels/*.whl" in step) for step in steps] == [
        (True, True),
        (False, False),
    ]


def test_both_stages_have_one_python_that_every_package_permits() -> None:
    stages = {value.split()[0] for value in given("FROM")}
    assert stages == {"docker.io/library/python:${PYTHON}-slim"}
    (version,) = [value.removeprefix("PYTHON=") for value in given("ARG") if "PYTHON" in value]
    for path in ROOT.glob("packages/*/pyproject.toml"):
        project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        assert version in SpecifierSet(project["requires-python"])
        assert f"Programming Language :: Python :: {version}" in project["classifiers"]


def test_the_image_runs_as_a_user_that_is_not_root() -> None:
    (user,) = given("USER")
    uid, gid = user.split(":")
    assert int(uid) > 1000
    assert f"useradd --uid {uid} --gid {gid} " in given("RUN")[-1]
    assert [name for name, _ in instructions()][-1] == "ENTRYPOINT"


def test_the_image_holds_no_secret() -> None:
    assert [value for value in given("ENV") + given("ARG") if SECRET.search(value)] == []


def test_the_image_starts_a_program_and_no_shell_line() -> None:
    (entry,) = given("ENTRYPOINT")
    assert json.loads(entry) == ["/usr/local/bin/serve"]
    assert "container/serve /usr/local/bin/serve" in given("COPY")
    assert START.stat().st_mode & stat.S_IXOTH


def test_its_options_are_those_of_grk_serve(shell: Shell) -> None:
    told = shell("serve", "--help").out
    script = START.read_text(encoding="utf-8")
    service = yaml.safe_load((FOLDER / "compose.yaml").read_text())["services"]["groundkit"]
    used = re.findall(r"--[a-z-]+", script.partition("exec ")[2] + " ".join(service["command"]))
    assert {"--host", "--index-dir", "--root"} <= set(used)
    assert [option for option in used if f"  {option} " not in told] == []


def test_the_health_check_passes_where_the_server_is_ready_and_only_there(shell: Shell) -> None:
    with serving(shell) as server:
        assert health(server.url) == 0
        shell("collections", "delete", "default", "--yes")
        assert health(server.url) != 0
    assert health(server.url) != 0


def test_the_token_is_read_from_a_file_and_a_signal_ends_the_server(shell: Shell) -> None:
    shell.write("token", TOKEN + "\n")
    file = str(shell.folder / "token")
    with started(shell, GROUNDKIT_SERVE_TOKEN_FILE=file) as process:
        url = f"{address(process)}/v1/search"
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"}
        with direct.open(Request(url, b'{"query": "hose"}', headers)) as reply:
            found = json.load(reply)
        assert found["results"][0]["citation"]["source"] == "notes/a.md"
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=10) == 0


def test_a_token_file_that_is_not_there_keeps_it_from_starting(shell: Shell) -> None:
    with started(shell, GROUNDKIT_SERVE_TOKEN_FILE=str(shell.folder / "none")) as process:
        assert process.wait(timeout=30) == 1


def address(process: "subprocess.Popen[bytes]") -> str:
    """Where it listens, as its log says."""
    assert process.stderr
    for line in process.stderr:
        if (event := json.loads(line)).get("event") == "started":
            return str(event["url"])
    raise AssertionError("the server did not start")


def test_the_compose_file_takes_every_right_away() -> None:
    service = yaml.safe_load((FOLDER / "compose.yaml").read_text())["services"]["groundkit"]
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert all(volume.endswith(":ro") for volume in service["volumes"])
    assert [port for port in service["ports"] if not port.startswith("127.0.0.1:")] == []


def test_the_page_shows_the_compose_file() -> None:
    (shown,) = [block.body for block in blocks("how-to/container.md") if block.language == "yaml"]
    assert shown == (FOLDER / "compose.yaml").read_text(encoding="utf-8")


def test_the_commands_on_the_page_name_files_of_the_repository() -> None:
    text = (DOCS / "how-to" / "container.md").read_text(encoding="utf-8")
    named = set(re.findall(r"container/[\w.]+", text))
    assert "container/token" in named
    assert [name for name in named - {"container/token"} if not (ROOT / name).exists()] == []
    ignored = subprocess.run(
        ["git", "check-ignore", "--quiet", "container/token"], cwd=ROOT, check=False
    )
    assert ignored.returncode == 0


def test_a_container_on_the_page_listens_for_this_machine_without_rights() -> None:
    runs = [
        shlex.split(line)
        for block in blocks("how-to/container.md")
        for line in block.commands
        if line.startswith("docker run")
    ]
    assert len(runs) == 2
    for words in runs:
        assert {"--read-only", "--cap-drop", "--security-opt"} <= set(words)
        assert words[words.index("--publish") + 1] == "127.0.0.1:8000:8000"
