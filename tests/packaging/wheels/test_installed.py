from pathlib import Path

import pytest

from tests.packaging.wheels.environments import CLOSURE, fresh, run


@pytest.fixture(scope="module", params=CLOSURE)
def installed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path]:
    """A package's name and the scripts folder of a fresh environment that holds it."""
    name: str = request.param
    return name, fresh(tmp_path_factory.mktemp(name), CLOSURE[name])


def test_a_wheel_imports_and_is_typed(installed: tuple[str, Path], tmp_path: Path) -> None:
    name, scripts = installed
    code = (
        f"import groundkit_{name} as package, pathlib; "
        "here = pathlib.Path(package.__file__).parent; "
        "print(here.parent.name, (here / 'py.typed').is_file())"
    )
    assert run(scripts / "python", "-I", "-c", code, cwd=tmp_path) == "site-packages True\n"


def test_a_wheel_carries_the_licence(installed: tuple[str, Path], tmp_path: Path) -> None:
    name, scripts = installed
    code = (
        "from importlib.metadata import distribution; "
        f"d = distribution('groundkit-{name}'); "
        "print(d.metadata['License-Expression'], d.metadata['License-File'])"
    )
    assert run(scripts / "python", "-I", "-c", code, cwd=tmp_path) == "MIT LICENSE\n"


def test_a_wheel_brings_no_other_layer(installed: tuple[str, Path], tmp_path: Path) -> None:
    name, scripts = installed
    code = (
        "from importlib.metadata import distributions; "
        "print(*sorted(d.name for d in distributions() if d.name.startswith('groundkit')))"
    )
    expected = sorted(f"groundkit-{part}" for part in CLOSURE[name])
    assert run(scripts / "python", "-I", "-c", code, cwd=tmp_path).split() == expected


def test_grk_prints_its_help(installed: tuple[str, Path], tmp_path: Path) -> None:
    name, scripts = installed
    if name == "cli":
        assert "Usage" in run(scripts / "grk", "--help", cwd=tmp_path)
    else:
        assert not (scripts / "grk").exists()
