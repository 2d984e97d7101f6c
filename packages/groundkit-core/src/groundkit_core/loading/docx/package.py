"""The parts of a Word file and how they are found."""

import posixpath
import zipfile
from io import BytesIO

from groundkit_core.errors import RefusedError
from groundkit_core.loading.archive import check_zip, read_entry
from groundkit_core.loading.docx.xml import tree

__all__ = ["Package"]

_NAME = "Word"


class Package:
    """A Word file; `main` is the part with the body."""

    def __init__(self, data: bytes) -> None:
        check_zip(data, _NAME)
        self._archive = zipfile.ZipFile(BytesIO(data))
        main = self._targets("").get("officeDocument")
        body = self._read(main) if main else None
        if main is None or body is None:
            raise RefusedError("Word: it has no document in it")
        self.main = body
        self._related = self._targets(main)

    def part(self, kind: str) -> bytes | None:
        """The part that stands in a relation to the main one, such as `styles`, if there is one."""
        path = self._related.get(kind)
        return self._read(path) if path else None

    def _read(self, path: str) -> bytes | None:
        return read_entry(self._archive, path, _NAME)

    def _targets(self, path: str) -> dict[str, str]:
        """The first part of each kind that a part names, by the last word of the relation."""
        folder, name = posixpath.split(path)
        data = self._read(posixpath.join(folder, "_rels", f"{name}.rels"))
        found: dict[str, str] = {}
        for relation in tree(data).iter() if data else ():
            target = relation.get("Target", "")
            if relation.get("TargetMode") != "External" and target:
                kind = relation.get("Type", "").rpartition("/")[2]
                found.setdefault(
                    kind, posixpath.normpath(posixpath.join(folder, target)).lstrip("/")
                )
        return found
