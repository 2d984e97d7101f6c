"""Labels of encodings, as servers and pages give them and browsers take them."""

import codecs
import re

__all__ = ["codec_of"]

# What browsers read a label as, where that is wider than what Python reads it as.
_WIDER = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
# Labels of browsers that Python lacks.
_LABELS = {
    "dos-874": "cp874",
    "iso-8859-8-i": "iso8859-8",
    "ks_c_5601-1987": "cp949",
    "unicode-1-1-utf-8": "utf-8",
    "windows-31j": "cp932",
    "windows-874": "cp874",
    "windows-949": "cp949",
    "x-cp1250": "cp1250",
    "x-cp1251": "cp1251",
    "x-cp1252": "cp1252",
    "x-euc-jp": "euc_jp",
    "x-gbk": "gb18030",
    "x-mac-cyrillic": "mac-cyrillic",
    "x-mac-roman": "mac-roman",
    "x-sjis": "cp932",
}
# What browsers read, UTF-16 and what turns ASCII letters into others aside.
_READ = re.compile(
    r"utf-8|iso8859-\d+|cp125\d|cp8(66|74)|cp9(32|49)|koi8-[ru]|mac-(roman|cyrillic)"
    r"|gb18030|big5hkscs|euc_jp|iso2022_jp"
)


def codec_of(label: str) -> str | None:
    """Python's name of the encoding that a label means, None for what no browser reads."""
    label = label.strip().lower()
    try:
        name = codecs.lookup(_LABELS.get(label, label)).name
    except (LookupError, ValueError):
        return None
    name = _WIDER.get(name, name)
    return name if _READ.fullmatch(name) else None
