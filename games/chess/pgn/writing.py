"""Games written as PGN in its export format; comments are those of cutechess and fastchess, ``{ +0.31/14 0.52s }``."""

import math
from collections.abc import Iterator
from typing import Any

import chess

from glem.core.game.game import Game
from glem.core.game.records import GameRecords
from glem.games.chess.boards import move_of, to_board

_UNKNOWN = "?"
_LEAST_SECONDS = 0.0005
_RESULTS = {1.0: "1-0", 0.0: "1/2-1/2", -1.0: "0-1"}
_KNOWN_RESULTS = {1.0: "won", 0.0: "drawn", -1.0: "lost"}
_TERMINATIONS = {"": "unterminated", "adjudicated": "adjudication", "time": "time forfeit", "failure": "abandoned"}


def write_pgn(game: Game, records: GameRecords, /) -> Iterator[bytes]:
    """Yield games one after the other.

    The comment of a move has what its player expected, from its own view and in its own unit (pawns of engines, the
    value of an evaluation), or the result that it knew of; then depth and seconds. ``book`` marks a move that was
    given.
    """
    for index in range(len(records)):
        board = to_board(game.initial_position if records.starts is None else records.start_of(index), chess960=True)
        result = _result(records, index)
        tags = _tags(records, index, board, result)
        escaped = str.maketrans({"\\": r"\\", '"': r"\""})
        lines = (f'[{name} "{value.translate(escaped)}"]\n' for name, value in tags.items())
        yield "".join([*lines, "\n", _movetext(records, index, board, result), "\n\n"]).encode()


def _result(records: GameRecords, index: int) -> str:
    known = float(records.score[index])
    if math.isnan(known) and "result" in records.extra:
        known = float(records.extra["result"][index])
    return _RESULTS.get(known, "*")


def _tags(records: GameRecords, index: int, board: chess.Board, result: str) -> dict[str, str]:
    tags = {
        "Event": "glem",
        "Site": _UNKNOWN,
        "Date": "????.??.??",
        "Round": str(index + 1),
        "White": records.name("first_player", index) or _UNKNOWN,
        "Black": records.name("second_player", index) or _UNKNOWN,
        "Result": result,
    }
    if board.has_chess960_castling_rights():
        tags["Variant"] = "Chess960"
    if board.fen() != chess.STARTING_FEN:
        tags |= {"SetUp": "1", "FEN": board.fen()}
    if "end" in records.extra:
        tags["Termination"] = _TERMINATIONS.get(records.name("end", index), "normal")
    return tags


def _movetext(records: GameRecords, index: int, board: chess.Board, result: str) -> str:
    """Numbered moves and their comments in lines of 80 characters; the board is played on."""
    # Imported late, as it brings asyncio along: most commands write no games.
    from chess.pgn import StringExporter

    text = StringExporter(headers=False)
    moves = slice(int(records.offsets[index]), int(records.offsets[index + 1]))
    notes: dict[str, Any] = {name: column[moves].tolist() for name, column in records.move_columns.items()}
    for place, number in enumerate(records.moves[moves].tolist()):
        move = move_of(number)
        text.visit_move(board, move)
        board.push(move)
        comment = _comment({name: column[place] for name, column in notes.items()})
        if comment:
            text.visit_comment(comment)
    text.visit_result(result)
    return text.result()


def _comment(notes: dict[str, Any]) -> str:
    if notes.get("book"):
        return "book"
    known, score = notes.get("known_result", math.nan), notes.get("comment_score", math.nan)
    told = _KNOWN_RESULTS.get(known, f"{score:+.2f}" if math.isfinite(score) else "")
    if told and notes.get("depth"):
        told += f"/{notes['depth']}"
    seconds = notes.get("seconds", 0.0)
    return " ".join(part for part in (told, f"{seconds:.3f}s" if seconds >= _LEAST_SECONDS else "") if part)
