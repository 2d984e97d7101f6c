import pytest
from groundkit_providers.media_types import charset

CHARSETS = {
    "": None,
    "text/html": None,
    "text/html; charset=utf-8": "utf-8",
    "text/html;charset=UTF-8": "UTF-8",
    'text/html; Charset = "windows-1252"; x=y': "windows-1252",
    "text/html; charset='shift_jis'": "shift_jis",
    'text/html; charset="utf-8': "utf-8",
    "text/html; x=y; charset=iso-8859-15": "iso-8859-15",
    "text/html; charset=utf-8; charset=latin-1": "utf-8",
    "text/html, text/html; charset=utf-8": "utf-8",
    "text/html; charset=": None,
    "text/html; charset=klingon-8": None,
    "text/html; charset=hex": None,
    "text/html; charset=base64": None,
    "text/html; charset=rot13": None,
    "text/html; charset=undefined": None,
    "text/html; charset=unicode-escape": None,
    "text/html; charset=Raw_Unicode_Escape": None,
    "text/html; charset=utf7": None,
    "text/html; charset=idna": None,
    "text/html; charset=punycode": None,
    "text/html; charset=../x": None,
    "text/html; charset=\u2028": None,
    "text/html; charset=" + "x" * 99_999: None,
    "text/html; charset=" + '"' * 99_999: None,
    "text/html; xcharset=utf-8": None,
}


@pytest.mark.parametrize("said", CHARSETS, ids=range(len(CHARSETS)))
def test_a_character_set_is_taken_where_python_knows_it(said: str) -> None:
    assert charset(said) == CHARSETS[said]
