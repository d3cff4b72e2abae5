"""Options that commands share. One option has one meaning; one meaning has one name.

The game is always the first argument. Where files tell it, you may leave it out.

=====================  ===============================================  ==================================
Name                   Meaning                                          Was
=====================  ===============================================  ==================================
``GAME``               the game, the first argument                     ``--game``
``-o, --output``       what the command writes
``--format``           format of the files that are read
``--write-format``     format of the files that are written             ``--format`` of ``generate``
``--held-out SHARE``   share of the games that is held out              ``--validation``, ``--split``
``--per-game N``       random positions of each game, at most           ``--sample`` of ``positions``
``--sample N``         positions that ``discover`` mines
``--of-player NAME``   games of this player                             ``--player`` of ``positions``
``--player PLAYER``    who plays: the text of a player
``--by PLAYER``        who labels: the text of a player
``--quick PLAYER``     who searches all positions first                 ``--by`` of ``relabel``
``--group-by NAME``    print grades by this                             ``--by`` of ``grade``
``--keep N``           configurations that ``discover`` keeps
``--keep-labels``      keep the labelled positions                      ``--keep`` of ``improve``
``--scores FOLDER``    where scores of external engines are kept        ``--keep`` of ``grade``
``--even-within``      a position is near-even up to this value         ``--window``
``--suspect-above``    a label is suspicious above this                 ``--threshold`` of ``relabel``
``--threshold``        standard deviations of ProbCut's check searches
``--baseline NAME``    fit the features of a baseline of the game
``--start``            evaluation that ``learn`` begins with            ``--baseline`` of ``learn``
``--quiet-positions``  leave positions with tactical moves out          ``--quiet``
=====================  ===============================================  ==================================

Metavars: EVALUATION is an evaluation file or ``default``, PLAYER the text of a player, FILE and FOLDER are paths,
NAME is one of a list, SHARE is from 0 to 1, RULE selects positions.

Old names work for one version, with a notice on standard error: ``was=("--old",)`` of :func:`option` is all it takes.
"""

from glem.core.cli.options.common import (
    as_json,
    evaluation_output,
    even_within,
    held_out,
    jobs,
    limits,
    output,
    quiet_positions,
    seed,
    selection,
    workers,
)
from glem.core.cli.options.fitting import (
    configurations,
    iterations,
    l2,
    linear,
    patterns,
    smoothing,
)
from glem.core.cli.options.grading import TuningGames, confidence, evaluations, report, resamples, tuning
from glem.core.cli.options.making import Command, argument, command, group, option
from glem.core.cli.options.playing import game, moves, opponent, position, thinker
from glem.core.cli.options.reading import GameFiles, file_format, files, skip_bad, split_game

__all__ = [
    "Command",
    "GameFiles",
    "TuningGames",
    "argument",
    "as_json",
    "command",
    "confidence",
    "configurations",
    "evaluation_output",
    "evaluations",
    "even_within",
    "file_format",
    "files",
    "game",
    "group",
    "held_out",
    "iterations",
    "jobs",
    "l2",
    "limits",
    "linear",
    "moves",
    "opponent",
    "option",
    "output",
    "patterns",
    "position",
    "quiet_positions",
    "report",
    "resamples",
    "seed",
    "selection",
    "skip_bad",
    "smoothing",
    "split_game",
    "thinker",
    "tuning",
    "workers",
]
