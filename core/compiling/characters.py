"""ASCII characters by their Unicode names, for kernels that compare bytes of a text."""

from __future__ import annotations

__all__ = [
    "ASTERISK",
    "CAPITAL_M",
    "CAPITAL_O",
    "CAPITAL_Z",
    "CARRIAGE_RETURN",
    "COLON",
    "COMMA",
    "COMMERCIAL_AT",
    "DIGIT_NINE",
    "DIGIT_ONE",
    "DIGIT_TWO",
    "DIGIT_ZERO",
    "EQUALS_SIGN",
    "FULL_STOP",
    "HYPHEN",
    "LEFT_BRACE",
    "LEFT_BRACKET",
    "NEWLINE",
    "NUMBER_SIGN",
    "PERCENT_SIGN",
    "PLUS_SIGN",
    "QUOTATION_MARK",
    "RIGHT_BRACE",
    "RIGHT_BRACKET",
    "SEMICOLON",
    "SMALL_E",
    "SMALL_V",
    "SMALL_W",
    "SMALL_X",
    "SOLIDUS",
    "SPACE",
    "TAB",
]

TAB, NEWLINE, CARRIAGE_RETURN, SPACE = b"\t\n\r "
COMMA, FULL_STOP, COLON, SEMICOLON, QUOTATION_MARK = b',.:;"'
PLUS_SIGN, HYPHEN, ASTERISK, SOLIDUS, EQUALS_SIGN = b"+-*/="
NUMBER_SIGN, PERCENT_SIGN, COMMERCIAL_AT = b"#%@"
LEFT_BRACKET, RIGHT_BRACKET, LEFT_BRACE, RIGHT_BRACE = b"[]{}"
DIGIT_ZERO, DIGIT_ONE, DIGIT_TWO, DIGIT_NINE = b"0129"
CAPITAL_M, CAPITAL_O, CAPITAL_Z = b"MOZ"
SMALL_E, SMALL_V, SMALL_W, SMALL_X = b"evwx"
