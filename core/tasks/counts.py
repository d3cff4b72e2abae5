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


def with_error(value: float, error: float) -> str:
    """Write a value with its standard error, ``0.5012 ± 0.003``, which so few cases may not give."""
    return f"{value:.4g}" + (f" ± {error:.2g}" if math.isfinite(error) else "")


def with_limits(form: str, value: float, low: float, high: float) -> str:
    """Write a value in a format with its interval, ``0.500 (0.497 to 0.503)``, which so few cases may not give."""
    return f"{value:{form}}" if math.isnan(low) else f"{value:{form}} ({low:{form}} to {high:{form}})"


def interval_text(low: float, high: float, decimals: int) -> str:
    """Write an interval with signs, ``-0.1 to +0.3``; in words where so few cases give none."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return "no interval"
    return f"{low:+.{decimals}f} to {high:+.{decimals}f}"


def rating_text(value: float, error: float) -> str:
    """Write a rating with its error; without one, or a dash, where so few or so one-sided games do not tell."""
    if not math.isfinite(value):
        return "-"
    return f"{value:+.0f}" + (f" ± {error:.0f}" if math.isfinite(error) and error > 0 else "")
