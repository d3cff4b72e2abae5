"""Chess: rules, notations and file formats."""

from functools import partial

import chess

from glem.core.game.game import BoardLayout, Game, PositionFormat, RecordFormat
from glem.games.chess import binpack, bullet, notation, position_lines
from glem.games.chess.pgn import reading as pgn
from glem.games.chess.pgn import writing as pgn_writing
from glem.games.chess.rules import generation, playing, searching
from glem.games.chess.rules.position import INITIAL_POSITION
from glem.games.chess.uci.player import UCI_PLAYERS
from glem.games.chess.uci.protocol import UCI


def _position_format(name: str, whose: str, view: str | None = None) -> PositionFormat:
    read = partial(position_lines.read_position_lines, view=view)
    return PositionFormat(
        name=name,
        description=f"Lines or tables (CSV, TSV, Parquet) of a FEN and the result of its game, {whose}.",
        # Only one of them can be found by its file.
        suffixes=() if view else (".epd", ".fen", ".csv", ".tsv", ".parquet"),
        read=read,
        recognizes=(lambda _: False) if view else position_lines.recognizes,
        read_unscored=partial(read, unscored=True),
        label_kind="result",
    )


_POSITION_FORMATS = (
    _position_format("positions", "White's or the mover's as the first lines tell"),
    _position_format("positions-white", "White's", position_lines.WHITE),
    _position_format("positions-mover", "the mover's", position_lines.MOVER),
    PositionFormat(
        name="bullet",
        description="Records of 32 bytes as bullet's trainer reads them, with results, as the side to move sees them.",
        suffixes=(".data", ".bullet"),
        read=bullet.read_bullet,
        recognizes=bullet.recognizes,
        label_kind="result",
    ),
)

CHESS = Game(
    name="chess",
    title="Chess",
    initial_position=INITIAL_POSITION,
    legal_moves=generation.legal_moves,
    play=playing.play,
    is_over=playing.is_over,
    final_score=playing.final_score,
    hash_key=playing.hash_key,
    max_moves=notation.MAX_MOVES,
    move_count=notation.MOVE_COUNT,
    # 96 moves of pawns, 30 captures, 8 of them by pawns, each after 149 plies without either; 150 such at the end.
    max_plies=150 * (96 + 30 - 8) + 150,
    score_bounds=(-1, 1),
    format_position=notation.format_position,
    parse_position=notation.parse_position,
    format_move=notation.format_move,
    parse_move=notation.parse_move,
    format_move_at=notation.san_of,
    parse_move_at=notation.parse_move_at,
    count_moves=generation.count_moves,
    transform=playing.transform,
    transform_move=playing.transform_move,
    symmetry_count=2,
    layout=BoardLayout(rows=8, columns=8, cell_names=tuple(chess.SQUARE_NAMES[square ^ 56] for square in range(64))),
    record_formats={
        "pgn": RecordFormat(
            name="pgn",
            description="Portable Game Notation, with comments' scores and starting positions; also Chess960.",
            suffixes=(".pgn",),
            read=pgn.read_pgn,
            recognizes=pgn.recognizes,
            write=pgn_writing.write_pgn,
        ),
        "binpack": RecordFormat(
            name="binpack",
            description="Stockfish's training data: lines of play with a score of each move and the result.",
            suffixes=(".binpack",),
            read=binpack.read_binpack,
            recognizes=binpack.recognizes,
        ),
    },
    position_formats={known.name: known for known in _POSITION_FORMATS},
    search_functions=searching.SEARCH_FUNCTIONS,
    quiescence=searching.QUIESCENCE,
    facts={
        "castling": "the king's move onto its own rook, e1h1; Chess960 needs nothing else",
        "ends": "mate, stalemate, 75 moves of both sides without a capture or a pawn move",
        "draws by claim": "50 such moves, too little material for any mate, the third occurrence of a position",
    },
    protocols={UCI.name: UCI},
    external_players={UCI_PLAYERS.name: UCI_PLAYERS},
)
"""The game as the registry knows it."""
