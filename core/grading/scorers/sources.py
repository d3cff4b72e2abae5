"""What can be graded, and the texts that describe it.

======================== ===========================================================================================
text                     what is graded
======================== ===========================================================================================
``default``, a file      an evaluation of glem, static or after a search; a program of others (as of a player)
``comments``             the scores in the comments of the graded games: ``side=first`` or ``mover``, ``unit=pawns``
                         or ``centipawns``, ``kind=``, ``mate=`` (pawns that a proved win counts as)
``csv:FILE``             scores in a CSV file: ``side=mover`` or ``first``, ``unit=``
``python:M:F``           function ``F`` of the module or file ``M``: ``unit=``
======================== ===========================================================================================

Options follow the first word after commas; ``name=`` gives each a name of its own.
"""

from __future__ import annotations

from pathlib import Path

from glem.core.errors import BadInputError
from glem.core.game.game import Game
from glem.core.grading.scorers.scorers import Scorer, scorer_of
from glem.core.tasks.chunked_work import Workers

__all__ = ["source_of"]

_COMMENTS, _CSV, _PYTHON = "comments", "csv", "python"
_OPTIONS = {_COMMENTS: ("side", "unit", "kind", "mate"), _CSV: ("side", "unit"), _PYTHON: ("unit",)}


def source_of(
    game: Game, text: str, *, jobs: int = 1, workers: Workers | None = None, kept: Path | None = None
) -> Scorer:
    """Make what grades by a text.

    Parameters
    ----------
    game
        The game.
    text
        See the module; what is none of its own kinds is a text of :func:`~glem.core.grading.scorers.scorers.scorer_of`.
    jobs
        Threads of a static evaluation.
    workers
        Where searches and programs run.
    kept
        Folder in which scores of programs are kept.

    Raises
    ------
    BadInputError
        The text describes nothing that gives values, or an option that there is not.
    """
    words = text.split(",")
    named = dict(word.split("=", 1) for word in words if "=" in word)
    source = named.pop("evaluation", None) or next((word for word in words if "=" not in word), "")
    kind, _, rest = source.partition(":")
    if kind not in _OPTIONS or (kind == _COMMENTS) != (source == _COMMENTS):
        return scorer_of(game, text, jobs=jobs, workers=workers, kept=kept)
    name = named.pop("name", text)
    unknown = sorted(set(named) - set(_OPTIONS[kind]))
    if unknown or sum("=" not in word for word in words) > 1:
        known = ", ".join(f"{option}=" for option in _OPTIONS[kind])
        wrong = unknown or [word for word in words if "=" not in word][1:]
        raise BadInputError(f"{text!r}: {kind} has no option {', '.join(wrong)}; it has: {known}, name=")
    if kind == _COMMENTS:
        from glem.core.grading.scorers.comments import CommentScorer

        mate = _number(text, named.pop("mate", "inf"))
        return CommentScorer(name, mate=mate, **named)
    if kind == _CSV:
        from glem.core.grading.scorers.score_files import ScoreFileScorer

        return ScoreFileScorer(game, name, rest, **named)
    from glem.core.grading.scorers.functions import FunctionScorer, load_function

    return FunctionScorer(name, load_function(rest), **named)


def _number(text: str, found: str) -> float:
    try:
        return float(found)
    except ValueError:
        raise BadInputError(f"{text!r}: mate= must be a number of pawns, got {found!r}") from None
