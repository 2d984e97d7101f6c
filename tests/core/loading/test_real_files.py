from collections import Counter

from groundkit_core.errors import RefusedError
from groundkit_core.loading.detect import decode

from tests.shared_data import shared

# What the end of a file's name says about its bytes; the second reads what the first leaves out.
NAMED = {
    "UTF8": ("utf-8",),
    "Latin1": ("latin-1", "cp1252"),
    "Latin2": ("iso8859-2", "cp1250"),
    "Cyrillic": ("cp1251", "iso8859-5"),
    "Greek": ("iso8859-7", "cp1253"),
    "Turkish": ("iso8859-9", "cp1254"),
    "Hebrew": ("iso8859-8", "cp1255"),
    "Arabic": ("cp1256", "iso8859-6"),
    "Baltic": ("cp1257", "iso8859-13"),
    "SJIS": ("shift_jis", "cp932"),
    "EUC": ("euc_jp",),
    "GB2312": ("gb2312", "gb18030"),
    "Unicode": ("utf-16",),
}


def test_most_encodings_are_told_from_the_bytes() -> None:
    named, right = Counter[str](), Counter[str]()
    for path in sorted(shared("data", "docs_udhr").iterdir()):
        ending = path.name.rpartition("-")[2]
        if ending not in NAMED:
            continue
        data = path.read_bytes()
        readings = set()
        for codec in NAMED[ending]:
            try:
                readings.add(data.decode(codec))
            except UnicodeDecodeError:
                continue
        if not readings:  # its name is wrong
            continue
        named[ending] += 1
        try:
            right[ending] += decode(data).text.lstrip("\ufeff") in {
                reading.lstrip("\ufeff") for reading in readings
            }
        except RefusedError:
            continue
    for ending, count in named.most_common():
        print(f"{ending}: {right[ending]} of {count} read as named")
    print(f"all: {right.total()} of {named.total()}")
    assert right["UTF8"] == named["UTF8"]
    assert right.total() >= 0.9 * named.total()
