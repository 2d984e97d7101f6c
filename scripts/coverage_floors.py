"""Combine the coverage data of all processes and hold it to both floors of pyproject.toml."""

import tomllib
from pathlib import Path

from coverage import Coverage, CoverageData
from coverage.exceptions import CoverageException

ROOT = Path(__file__).resolve().parent.parent


def combine(folder: Path) -> None:
    """Combine the data files in a folder; one that a killed process left half written is named."""
    whole = CoverageData(basename=str(folder / ".coverage"))
    for path in sorted(folder.glob(".coverage.*")):
        part = CoverageData(basename=str(path))
        try:
            part.read()
            whole.update(part)
        except CoverageException:
            print(f"left out {path.name}: its process was killed while it was written")
        finally:
            part.close()
            path.unlink()
    whole.close()


def main() -> int:
    """Report the core subset, then everything; 1 when either is below its floor."""
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    subset: list[str] = tool["groundkit"]["coverage"]["core_subset"]
    if stale := [pattern for pattern in subset if not any(ROOT.glob(f"packages/*/src/{pattern}"))]:
        print(f"core_subset matches no file: {', '.join(stale)}")
        return 1

    combine(ROOT)
    coverage = Coverage()
    coverage.load()
    print("core subset")
    core = coverage.report(include=[f"*/{pattern}" for pattern in subset])
    print("\nwhole")
    whole = coverage.report()

    missed = False
    for name, total, floor in (
        ("core subset", core, tool["groundkit"]["coverage"]["core_subset_fail_under"]),
        ("whole", whole, tool["coverage"]["report"]["fail_under"]),
    ):
        verdict = "ok" if total >= floor else "too low"
        print(f"{name}: {total:.2f} %, floor {floor} %: {verdict}")
        missed |= total < floor
    return int(missed)


if __name__ == "__main__":
    raise SystemExit(main())
