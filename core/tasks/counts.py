"""Numbers in sentences for people."""

import math


def counted(count: int, noun: str) -> str:
    """Write a count with its noun, given in the singular: ``1 position``, ``1,200 positions``."""
    if count == 1:
        return f"1 {noun}"
    if noun.endswith(("ch", "s", "x")):
        return f"{count:,} {noun}es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{count:,} {noun[:-1]}ies"
    return f"{count:,} {noun}s"


def interval_text(low: float, high: float, decimals: int) -> str:
    """Write an interval with signs, ``-0.1 to +0.3``; in words where so few cases give none."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return "no interval"
    return f"{low:+.{decimals}f} to {high:+.{decimals}f}"
