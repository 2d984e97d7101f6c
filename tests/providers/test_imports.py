import subprocess
import sys
from importlib.resources import files

REFUSED = ["groundkit_evals", "groundkit_cli"]


def test_the_package_imports_alone() -> None:
    code = "\n".join(
        [
            "import sys",
            f"sys.modules.update(dict.fromkeys({REFUSED}))",
            "import groundkit_providers",
        ]
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_package_is_typed() -> None:
    assert files("groundkit_providers").joinpath("py.typed").is_file()
