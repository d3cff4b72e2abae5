"""Games as they were played, made into records: for any format's writer, and to replay what a journal says of them."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at, store_position
from glem.core.game.draws import drawn_by
from glem.core.game.game import Game
from glem.core.game.records import GameRecords
from glem.core.players.player import MoveChoice
from glem.core.positions.replay import FINISHED, ILLEGAL, Replay, replay
from glem.core.tournament.games import DRAWN_ENDS, End, PlayedGame
from glem.core.tournament.openings import Opening


def records_of_openings(game: Game, openings: Iterable[Opening]) -> GameRecords:
    """Make records of openings alone, to try whether a format has room for games that begin so."""
    names = ("", "")
    return records_of_games(game, [PlayedGame(0, names, one, (), None, 0, End.FINISHED, (0, 0)) for one in openings])


def records_of_games(game: Game, games: Sequence[PlayedGame]) -> GameRecords:
    """Make records of games, with all that :class:`~glem.core.game.game.WriteRecords` tells of.

    The first player of a record is the one who moves in the game's initial position. Forced passes are left out. The
    theoretical score is the first exact one that a player, or whoever ended the game, knew.
    """
    # Where there is no first position, whoever moves first is the first player.
    texts = {one.opening.start for one in games}
    began = {text: not text or game.first_moves_in(text) for text in texts}
    signs = [1 if began[one.opening.start] else -1 for one in games]
    signed = list(zip(games, signs, strict=True))
    choices: list[MoveChoice] = []
    book: list[bool] = []
    offsets = [0]
    exact: list[tuple[float, int]] = []
    for one, sign in signed:
        known = (np.nan, -1)
        given = [MoveChoice(move) for move in one.opening.moves]
        for place, choice in enumerate((*given, *one.moves)):
            if known[1] < 0 and choice.exact and choice.score is not None:
                known = (choice.score * sign * (-1 if place % 2 else 1), len(choices) - offsets[-1])
            if choice.move != game.pass_move:
                choices.append(choice)
                book.append(place < len(given))
        if known[1] < 0 and one.score is not None and one.end == End.ADJUDICATED:
            known = (sign * one.score, len(choices) - offsets[-1])
        offsets.append(len(choices))
        exact.append(known)
    ends = tuple(dict.fromkeys(str(one.end) for one in games))
    named = [one.players[::sign] for one, sign in signed]
    players = tuple(dict.fromkeys(name for names in named for name in names))
    begin_elsewhere = any(texts)
    final = [None if one.end == End.ADJUDICATED or one.score is None else sign * one.score for one, sign in signed]
    return GameRecords(
        moves=np.array([choice.move for choice in choices], np.uint8 if game.move_count <= 1 << 8 else np.int16),
        offsets=np.array(offsets, np.int64),
        score=_floats(final),
        theoretical_score=np.array([value for value, _ in exact], np.float32),
        theoretical_ply=np.array([ply for _, ply in exact], np.int16),
        extra={
            "result": _floats([sign * one.result if one.end else None for one, sign in signed]),
            "end": np.array([ends.index(str(one.end)) for one in games], np.int32),
            "first_player": np.array([players.index(first) for first, _ in named], np.int32),
            "second_player": np.array([players.index(second) for _, second in named], np.int32),
        },
        names={"end": ends, "first_player": players, "second_player": players},
        starts=_start_columns(game, games) if begin_elsewhere else None,
        start_side=np.array(signs, np.int8) if begin_elsewhere else None,
        move_columns={
            "comment_score": _floats([choice.score for choice in choices]),
            "known_result": _floats([choice.result for choice in choices]),
            "depth": np.array([choice.depth for choice in choices], np.int16),
            "seconds": np.array([choice.seconds for choice in choices], np.float32),
            "book": np.array(book, np.bool_),
        },
    )


def _start_columns(game: Game, games: Sequence[PlayedGame]) -> Any:
    """Columns of the positions with which games begin, before their openings."""
    texts = {one.opening.start for one in games}
    known = {text: game.parse_position(text) if text else game.initial_position for text in texts}
    starts = game.empty_columns(len(games))
    for row, one in enumerate(games):
        store_position(starts, row, known[one.opening.start])
    return starts


def _floats(values: Sequence[float | None]) -> NDArray[np.float32]:
    return np.array([np.nan if value is None else value for value in values], np.float32)


def contradictions(game: Game, games: Sequence[PlayedGame]) -> list[str]:
    """Tell what is wrong with each game, "" where its moves are legal and end as it says.

    That an adjudicated score is the exact one is believed, if it is a score of the game.
    """
    moves = [[*one.opening.moves, *(choice.move for choice in one.moves)] for one in games]
    records = GameRecords.from_moves(
        np.array([move for line in moves for move in line], np.int16),
        np.cumsum([0, *map(len, moves)], dtype=np.int64),
        starts=_start_columns(game, games),
        start_side=np.ones(len(games), np.int8),
    )
    played = replay(game, records)
    return [_contradiction(game, one, played, index) for index, one in enumerate(games)]


def _contradiction(game: Game, one: PlayedGame, played: Replay, index: int) -> str:
    rows = range(int(played.offsets[index]), int(played.offsets[index + 1]))
    made = len(one.opening.moves) + len(one.moves)
    if played.status[index] == ILLEGAL:
        return f"move {int(played.illegal_at[index]) + 1} is illegal"
    if len(rows) != made + 1:
        return "a forced pass is left out"
    if (played.status[index] == FINISHED) != (one.end == End.FINISHED):
        return f"it ended as {one.end!s}, but its moves {'leave' if one.end == End.FINISHED else 'end'} the game"
    score, lost = one.score, None
    if one.end == End.FINISHED:
        score = int(played.final_score[index])
    elif one.end in DRAWN_ENDS.values():
        positions = [position_at(played.positions, row) for row in rows]
        draw = drawn_by(game, positions[-1], positions[:-1])
        if draw is None or DRAWN_ENDS[draw] != one.end:
            return f"it ended as {one.end!s}, which its moves do not show"
        score = 0
    elif one.end == End.ADJUDICATED:
        low, high = game.score_bounds
        if score is None or not low <= score <= high:
            return f"its adjudicated score is {score}, expected one from {low} to {high}"
    else:
        # Who used up the time has moved last, whose program failed was to move.
        score, lost = None, (made if one.end == End.FAILURE else made - 1) % 2
    if one.score != score:
        return f"its score is given as {one.score}, but its moves give {score}"
    result = np.sign(score) if score is not None else 2 * (lost or 0) - 1
    return "" if one.result == result else f"its result is given as {one.result}, but its end gives {result}"
