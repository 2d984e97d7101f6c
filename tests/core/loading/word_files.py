"""Word files made by hand, from the XML of their body and other parts."""

import zipfile
from io import BytesIO

__all__ = ["STRICT", "cell", "packed", "paragraph", "row", "run", "table", "word"]

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
_MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"
_MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(content: str = "", properties: str = "") -> str:
    """A paragraph with text, or with runs if it holds tags."""
    runs = content if content.startswith("<") else run(content)
    return f"<w:p><w:pPr>{properties}</w:pPr>{runs}</w:p>"


def cell(content: str, properties: str = "") -> str:
    inner = content if content.startswith(("<w:p>", "<w:tbl>")) else paragraph(content)
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{inner}</w:tc>"


def row(*cells: str, properties: str = "") -> str:
    """A row of cells, or of texts."""
    inner = "".join(text if text.startswith("<w:tc>") else cell(text) for text in cells)
    return f"<w:tr><w:trPr>{properties}</w:trPr>{inner}</w:tr>"


def table(*rows: str, look: str = "0000") -> str:
    properties = f'<w:tblPr><w:tblLook w:val="{look}"/></w:tblPr>'
    return f"<w:tbl>{properties}{''.join(rows)}</w:tbl>"


def word(
    body: str,
    *,
    namespace: str = _W,
    main: str = "word/document.xml",
    prologue: str = "",
    **parts: str,
) -> bytes:
    """A Word file; further parts by the kind of their relation."""
    folder, _, name = main.rpartition("/")
    files = {
        "_rels/.rels": _relations({"officeDocument": main}),
        main: prologue + _element("document", f"<w:body>{body}</w:body>", namespace),
        f"{folder}/_rels/{name}.rels": _relations({kind: f"{kind}.xml" for kind in parts}),
    }
    for kind, content in parts.items():
        files[f"{folder}/{kind}.xml"] = _element(kind, content, namespace)
    return packed(files)


def packed(files: dict[str, str]) -> bytes:
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return stream.getvalue()


def _element(name: str, content: str, namespace: str) -> str:
    names = f'xmlns:w="{namespace}" xmlns:m="{_MATH}" xmlns:mc="{_MC}"'
    return f"<w:{name} {names}>{content}</w:{name}>"


def _relations(targets: dict[str, str]) -> str:
    relations = (
        f'<Relationship Id="r{place}" Type="{_RELATION}/{kind}" Target="{target}"/>'
        for place, (kind, target) in enumerate(targets.items())
    )
    return f"<Relationships>{''.join(relations)}</Relationships>"
