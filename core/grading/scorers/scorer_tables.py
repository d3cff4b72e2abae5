"""Tables in which scorers tell people what they found out."""

from __future__ import annotations

from attrs import define

__all__ = ["ScorerTable"]


@define(frozen=True)
class ScorerTable:
    """What a scorer found out, for people.

    Parameters
    ----------
    title
        Of the table.
    header
        Names of the columns.
    rows
        Texts.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
