"""Set one version in all four packages: python scripts/bump.py 0.2.0."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION = re.compile(r'^(version = ")[^"]+(?=")', re.MULTILINE)
PIN = re.compile(r'("groundkit-\w+(?:\[[\w,]+\])?==)[^"]+(?=")')


def bump(root: Path, version: str) -> None:
    """Write the version and the pins between the packages under a root."""
    for path in sorted(root.glob("packages/*/pyproject.toml")):
        text, count = VERSION.subn(rf"\g<1>{version}", path.read_text(encoding="utf-8"))
        if count != 1:
            raise SystemExit(f"{path}: {count} versions where one was expected")
        path.write_text(PIN.sub(rf"\g<1>{version}", text), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2 or not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", sys.argv[1]):
        raise SystemExit(__doc__)
    bump(ROOT, sys.argv[1])
