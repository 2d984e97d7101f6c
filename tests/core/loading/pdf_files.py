"""PDF files written by hand, so that a test knows where each character stands."""

import hashlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass

PAD = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
WIDTH, HEIGHT = 612, 792
# One byte for each ligature that Unicode has, on top of the Windows code page.
LIGATURES = {"ﬀ": "\x01", "ﬁ": "\x02", "ﬂ": "\x03", "ﬃ": "\x04", "ﬄ": "\x05"}
ENCODING = "<< /BaseEncoding /WinAnsiEncoding /Differences [1 /ff /fi /fl /ffi /ffl] >>"
WIDGET = (
    b"<< /Type /Annot /Subtype /Widget /FT /Tx /T (a) /F 4 /Rect [200 396 400 416]"
    b" /AP << /N 7 0 R >> >>"
)
FONT = b"/Resources << /Font << /F1 4 0 R >> >>"
IMAGE = "q 200 0 0 200 72 500 cm BI /W 1 /H 1 /BPC 8 /CS /G ID x EI Q"


@dataclass(frozen=True)
class Bookmark:
    level: int
    title: str
    page: int


def text(x: float, y: float, string: str, size: float = 12, turn: int = 0) -> str:
    """Operators that show a string, its baseline beginning at (x, y), turned counter-clockwise."""
    a, b = ((1, 0), (0, 1), (-1, 0), (0, -1))[turn]
    for ligature, code in LIGATURES.items():
        string = string.replace(ligature, code)
    escaped = string.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return f"BT /F1 {size} Tf {a} {b} {-b} {a} {x} {y} Tm ({escaped}) Tj ET"


def lines(strings: Sequence[str], x: float = 72, top: float = 720, step: float = 14) -> str:
    """Operators that show strings one beneath the other."""
    return "\n".join(text(x, top - step * row, string) for row, string in enumerate(strings))


def pdf(
    pages: Sequence[str],
    *,
    outline: Sequence[Bookmark] = (),
    title: str = "",
    rotate: int = 0,
    password: str | None = None,
    filled_in: str = "",
) -> bytes:
    """A PDF whose pages hold the operators given, each with a form field if one is filled in."""
    form = b"/AcroForm << /Fields [6 0 R] >>" if filled_in else b""
    field = text(2, 6, filled_in).encode("cp1252")
    shape = (
        b"/Type /XObject /Subtype /Form /BBox [0 0 200 20] /Resources << /Font << /F1 4 0 R >> >>"
    )
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R /Outlines 3 0 R %s >>" % form,
        b"",
        b"",
        f"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding {ENCODING} >>".encode(),
        f"<< /Title <FEFF{title.encode('utf-16-be').hex()}> >>".encode() if title else b"<< >>",
        WIDGET,
        b"<< %s /Length %d >>\nstream\n%s\nendstream" % (shape, len(field), field),
    ]
    annots = "/Annots [6 0 R]" if filled_in else ""
    kids = []
    for page in pages:
        kids.append(len(objects) + 1)
        box = f"/MediaBox [0 0 {WIDTH} {HEIGHT}] /Rotate {rotate} {annots}"
        content = f"/Contents {len(objects) + 2} 0 R"
        objects.append(f"<< /Type /Page /Parent 2 0 R {box} {FONT.decode()} {content} >>".encode())
        objects.append(_stream(page.encode("cp1252")))
    named = " ".join(f"{kid} 0 R" for kid in kids)
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{named}] >>".encode()
    objects[2] = _outline(outline, kids, objects)
    return _file(objects, password)


def _stream(data: bytes) -> bytes:
    return b"<< /Length %d >>\nstream\n%s\nendstream" % (len(data), data)


def _outline(outline: Sequence[Bookmark], kids: list[int], objects: list[bytes]) -> bytes:
    first = len(objects) + 1
    for place, bookmark in enumerate(outline):
        later = [(other, mark) for other, mark in enumerate(outline) if other > place]
        end = next((other for other, mark in later if mark.level < bookmark.level), len(outline))
        family = [other for other, mark in later if mark.level == bookmark.level and other < end]
        children = [
            other for other, mark in later
            if mark.level == bookmark.level + 1 and other < (family[0] if family else end)
        ]  # fmt: skip
        links = f" /Next {first + family[0]} 0 R" if family else ""
        if children:
            links += f" /First {first + children[0]} 0 R /Last {first + children[-1]} 0 R"
            links += f" /Count {len(children)}"
        objects.append(
            f"<< /Title <FEFF{bookmark.title.encode('utf-16-be').hex()}> /Parent 3 0 R{links}"
            f" /Dest [{kids[bookmark.page]} 0 R /Fit] >>".encode()
        )
    if not outline:
        return b"<< /Type /Outlines >>"
    top = [place for place, bookmark in enumerate(outline) if bookmark.level == 0]
    return f"<< /Type /Outlines /First {first} 0 R /Last {first + top[-1]} 0 R >>".encode()


def _file(objects: list[bytes], password: str | None) -> bytes:
    trailer = f"/Size {len(objects) + 1} /Root 1 0 R /Info 5 0 R /ID [<00> <00>]".encode()
    if password is not None:
        owner = _rc4(_md5(PAD)[:5], _padded(password))
        key = _md5(_padded(password) + owner + struct.pack("<i", -4) + b"\0")[:5]
        trailer += b" /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s> >>" % (
            owner.hex().encode(),
            _rc4(key, PAD).hex().encode(),
        )
        objects = [_encrypted(key, number, data) for number, data in enumerate(objects, 1)]
    out = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, data in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, data)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return bytes(out + b"trailer << %s >>\nstartxref\n%d\n%%%%EOF\n" % (trailer, start))


def _encrypted(key: bytes, number: int, data: bytes) -> bytes:
    """The object with its stream encrypted; the strings of the test's files do not matter."""
    if b"stream\n" not in data:
        return data
    body = data.split(b"\nstream\n", 1)[1].removesuffix(b"\nendstream")
    return _stream(_rc4(_md5(key + struct.pack("<I", number)[:3] + b"\0\0")[:10], body))


def _padded(password: str) -> bytes:
    return (password.encode("latin-1") + PAD)[:32]


def _md5(data: bytes) -> bytes:
    return hashlib.md5(data, usedforsecurity=False).digest()


def _rc4(key: bytes, data: bytes) -> bytes:
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out, i, j = bytearray(), 0, 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)
