"""From this repository's documentation to verified passages, and what a changed source shows."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
GRK = Path(sys.executable).with_name("grk.exe" if os.name == "nt" else "grk")
DOCUMENTS = ("docs", *sorted(path.name for path in ROOT.glob("*.md")))
QUESTIONS = (
    "in which order are encodings tried",
    "what makes a citation drifted",
    "which settings may a project file not set",
)
NEW_LINE = "This line was not here when the passages were indexed.\n\n"


class DemoError(Exception):
    """Something is not as the demo claims."""


def claim(holds: bool, what: str) -> None:
    """Go on only if something is as claimed."""
    if not holds:
        raise DemoError(f"not as claimed: {what}")


def grk(*words: str | Path, expect: int = 0, into: Path | None = None) -> str:
    """Run a command as a reader would, show what it prints, and return that."""
    line = " ".join(f'"{word}"' if " " in str(word) else str(word) for word in words)
    print(f"$ grk {line}" + (f" > {into}" if into else ""), flush=True)
    errors = None if into else subprocess.STDOUT
    pipe, command = subprocess.PIPE, [GRK, *words]
    done = subprocess.run(command, cwd=ROOT, stdout=pipe, stderr=errors, encoding="utf-8")
    if into:
        into.write_text(done.stdout, encoding="utf-8")
    else:
        print(done.stdout, end="")
    print(f"[exit {done.returncode}]\n", flush=True)
    claim(done.returncode == expect, f"grk {words[0]} exits {expect}, not {done.returncode}")
    return done.stdout


def results(saved: Path) -> list[dict[str, Any]]:
    """The results of a saved search."""
    found: list[dict[str, Any]] = json.loads(saved.read_text(encoding="utf-8"))["results"]
    return found


def copy_of_the_documents(folder: Path) -> Path:
    """A folder with a copy of each document."""
    folder.mkdir()
    for name in DOCUMENTS:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, folder / name)
    return folder


def rewrite(root: Path, citation: dict[str, Any], old: str, new: str) -> None:
    """Replace text in the cited file, from the cited span on; an empty `old` is its beginning."""
    file = root / citation["source"].partition("/")[2]
    text = file.read_bytes().decode("utf-8")
    at = text.index(old, citation["start"]) if old else 0
    file.write_bytes((text[:at] + new + text[at + len(old) :]).encode("utf-8"))


def run(folder: Path) -> None:
    """The whole way, each step checked."""
    grk("ingest", *DOCUMENTS, "--root", "groundkit=.")
    saved = [folder / f"answer-{number}.json" for number, _ in enumerate(QUESTIONS, 1)]
    for question, file in zip(QUESTIONS, saved, strict=True):
        grk("search", question, "--top-k", "1")
        grk("search", question, "--json", into=file)
        count = sum(1 + len(result["copies"]) for result in results(file))
        claim(count > 0, f"a passage is found for {question!r}")
        claim(f"{count} verified" in grk("verify", file), f"{count} citations are verified")
    grk("verify")

    copy, first = copy_of_the_documents(folder / "changed"), results(saved[0])[0]
    old = max(first["content"].splitlines(), key=len)
    new = " not ".join(old.rsplit(" ", 1))
    rewrite(copy, first["citation"], old, new)
    print(f"In a copy of the documents a cited sentence is changed:\n- {old}\n+ {new}\n")
    told = grk("verify", saved[0], "--root", f"groundkit={copy}", expect=1)
    claim("1 drifted" in told, "the passage that holds the sentence is drifted, and no other")

    copy = copy_of_the_documents(folder / "shifted")
    citation = results(saved[1])[0]["citation"]
    rewrite(copy, citation, "", NEW_LINE)
    print(f"In another copy a line is inserted at the top of {citation['source']}.\n")
    told = grk("verify", saved[1], "--root", f"groundkit={copy}")
    span = f"{citation['start'] + len(NEW_LINE)}-{citation['end'] + len(NEW_LINE)}"
    claim("moved" in told and span in told, f"the passage has moved to characters {span}")
    print("Every citation was verified. The changed sentence was found, and so was the move.")


def main() -> int:
    """0 when everything is as claimed."""
    for name in [name for name in os.environ if name.startswith("GROUNDKIT__")]:
        del os.environ[name]
    with tempfile.TemporaryDirectory(prefix="groundkit-demo-") as folder:
        settings = {"GROUNDKIT__INDEX__DIR": f"{folder}/index", "XDG_CONFIG_HOME": folder}
        os.environ.update(settings, PYTHONUTF8="1")
        print(f"$ export GROUNDKIT__INDEX__DIR={folder}/index")
        try:
            run(Path(folder))
        except DemoError as failure:
            print(f"demo: {failure}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
