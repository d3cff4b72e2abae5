"""What can be graded, and the texts that describe it.

======================== ===========================================================================================
text                     what is graded
======================== ===========================================================================================
``default``, a file      an evaluation of glem, static or after a search; an external engine (as of a player)
``comments``             the scores in the comments of the graded games: ``side=first`` or ``mover``, ``unit=pawns``
                         or ``centipawns``, ``kind=``, ``mate=`` (pawns that a proved win counts as)
``csv:FILE``             scores in a CSV file: ``side=mover`` or ``first``, ``unit=``
``python:M:F``           function ``F`` of the module or file ``M``: ``unit=``
======================== ===========================================================================================

Options follow the first word after commas; ``name=`` gives each a name of its own.
"""

from collections.abc import Sequence
from pathlib import Path

from glem.core.errors import BadInputError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.named import evaluation_of, load_evaluation
from glem.core.evaluation.with_drawishness import ResultEvaluation
from glem.core.features.functions import load_function
from glem.core.game.game import Game
from glem.core.grading.scorers.comments import CommentScorer
from glem.core.grading.scorers.functions import FunctionScorer
from glem.core.grading.scorers.score_files import ScoreFileScorer
from glem.core.grading.scorers.scorer import Scorer
from glem.core.grading.scorers.searching import ExternalScorer, SearchScorer, StaticScorer
from glem.core.players.spec import EXTERNAL, SEARCH, parse_player
from glem.core.search.results import Limits
from glem.core.tasks.tasks import Workers

_STATIC = Limits(depth=1)
"""Stands for no limit in the text of a player; it is told from the same limit in the text by identity."""

_COMMENTS, _CSV, _PYTHON = "comments", "csv", "python"
_OPTIONS = {_COMMENTS: ("side", "unit", "kind", "mate"), _CSV: ("side", "unit"), _PYTHON: ("unit",)}


def scorer_of(
    game: Game, text: str, *, jobs: int = 1, workers: Workers | None = None, kept: Path | None = None
) -> Scorer:
    """Make what grades by a text.

    Parameters
    ----------
    text
        See the module; what is none of its own kinds is a text of a player
        (:func:`~glem.core.players.spec.parse_player`): an evaluation, static unless the text names a limit, or an
        external engine.
    jobs
        Threads of a static evaluation.
    workers
        Where searches and engines run.
    kept
        Folder in which scores of engines are kept, see
        :class:`~glem.core.grading.scorers.searching.ExternalScorer`.

    Raises
    ------
    BadInputError
        The text describes nothing that gives values in this game, or an option that there is not.
    """
    words = text.split(",")
    options = dict(word.split("=", 1) for word in words if "=" in word)
    source = options.pop("evaluation", None) or next((word for word in words if "=" not in word), "")
    kind, _, rest = source.partition(":")
    if kind not in _OPTIONS or (kind == _COMMENTS) != (source == _COMMENTS):
        return _player_scorer(game, text, jobs, workers, kept)
    name = options.pop("name", text)
    unknown = sorted(set(options) - set(_OPTIONS[kind]))
    if unknown or sum("=" not in word for word in words) > 1:
        known = ", ".join(f"{option}=" for option in _OPTIONS[kind])
        wrong = unknown or [word for word in words if "=" not in word][1:]
        raise BadInputError(f"{text!r}: {kind} has no option {', '.join(wrong)}; it has: {known}, name=")
    if kind == _CSV:
        return ScoreFileScorer(game, name, rest, **options)
    if kind == _PYTHON:
        return FunctionScorer(name, load_function(rest), **options)
    mate = options.pop("mate", "inf")
    try:
        return CommentScorer(name, mate=float(mate), **options)
    except ValueError:
        raise BadInputError(f"{text!r}: mate= must be a number of pawns, got {mate!r}") from None


def scorers_of(
    game: Game, evaluations: Sequence[str | LinearEvaluation | ResultEvaluation | Scorer], jobs: int
) -> list[Scorer]:
    """Make what gives values of evaluations, or of texts that describe them."""
    if not evaluations:
        raise BadInputError("name an evaluation to grade, after the game and the files")
    scorers: list[Scorer] = []
    for number, one in enumerate(evaluations, 1):
        if isinstance(one, Scorer):
            scorers.append(one)
        elif isinstance(one, str):
            scorers.append(scorer_of(game, one, jobs=jobs))
        else:
            scorers.append(StaticScorer(f"evaluation {number}", evaluation_of(one, game), jobs=jobs))
    return scorers


def _player_scorer(game: Game, text: str, jobs: int, workers: Workers | None, kept: Path | None) -> Scorer:
    spec = parse_player(text, limits=_STATIC)
    if spec.kind == EXTERNAL:
        if spec.limits is _STATIC:
            raise BadInputError(f"{text!r} has no limit for its search: add depth=, nodes= or seconds=")
        return ExternalScorer(game, spec, workers=workers, kept=kept)
    if spec.kind != SEARCH:
        raise BadInputError(f"{text!r} is a {spec.kind} player and gives no values; name an evaluation file or default")
    if spec.limits is not _STATIC:
        return SearchScorer(game, spec, workers=workers)
    if spec.solve_from or spec.result_from:
        raise BadInputError(f"{text!r} solves positions but has no limit for those before: add depth= or nodes=")
    return StaticScorer(spec.name, load_evaluation(spec.evaluation, game), jobs=jobs)
