"""Whole numbers in texts of strangers, where Python's ``int`` would also take ``1_0``, `` 5 `` and other digits."""

from glem.core.errors import BadInputError

_MOST_DIGITS = 18
_SHOWN = 80


def whole_number(text: str, least: int = 0, greatest: int = 10**_MOST_DIGITS) -> int | None:
    """Read decimal ASCII digits, perhaps behind a minus sign; None for every other text and outside of the bounds."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= _MOST_DIGITS):
        return None
    number = int(text)
    return number if least <= number <= greatest else None


def read_whole_number(text: str, what: str, least: int, greatest: int) -> int:
    """Read as :func:`whole_number`; :class:`BadInputError` for every other text."""
    number = whole_number(text, least, greatest)
    if number is None:
        raise BadInputError(f"{what} must be a whole number from {least} to {greatest}, got {text[:_SHOWN]!r}")
    return number
