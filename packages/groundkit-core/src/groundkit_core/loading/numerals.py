"""Numbers of list items as they are shown."""

__all__ = ["numeral"]

_ROMAN = (
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
)


def numeral(number: int, style: str) -> str:
    """A number in style `1`, `a`, `A`, `i` or `I`; in digits where the style has no such number."""
    if style in ("a", "A") and number > 0:
        text = _letters(number)
    elif style in ("i", "I") and 0 < number < 4000:
        text = _roman(number)
    else:
        return str(number)
    return text.upper() if style.isupper() else text


def _letters(number: int) -> str:
    """a to z, aa to az and so on."""
    text = ""
    while number > 0:
        number, rest = divmod(number - 1, 26)
        text = chr(ord("a") + rest) + text
    return text


def _roman(number: int) -> str:
    text = ""
    for value, sign in _ROMAN:
        count, number = divmod(number, value)
        text += sign * count
    return text
