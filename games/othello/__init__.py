"""Othello: rules, notations and file formats."""

from functools import partial

from glem.core.game.game import BoardLayout, Game, PositionFormat, RecordFormat
from glem.games.othello import nboard, notation, rules, single
from glem.games.othello.formats import ggf, scored_positions, transcripts, wthor
from glem.games.othello.nboard_programs import NBOARD_PLAYERS
from glem.games.othello.solver import EndgameSolver

_RECORD_FORMATS = (
    RecordFormat(
        name="wthor",
        description="Database of the French federation, with names from .JOU and .TRN files beside it.",
        suffixes=(".wtb",),
        read=wthor.read_wthor,
        recognizes=wthor.recognizes,
        write=wthor.write_wthor,
    ),
    RecordFormat(
        name="logbook",
        description="Logistello's opening book: +d3-c3+c4: -04 10.",
        suffixes=(".gam",),
        read=transcripts.read_logbook,
        recognizes=transcripts.recognizes_logbook,
    ),
    RecordFormat(
        name="transcripts",
        description="One game a line, f5d6c3, with or without a score for black.",
        suffixes=(),
        read=transcripts.read_transcripts,
        recognizes=transcripts.recognizes_transcripts,
        write=transcripts.write_transcripts,
    ),
    RecordFormat(
        name="ggf",
        description="Generic Game Format of the server GGS, with players, results, and first positions.",
        suffixes=(".ggf",),
        read=ggf.read_ggf,
        recognizes=ggf.recognizes,
        write=ggf.write_ggf,
    ),
    RecordFormat(
        name="table",
        description="Table with a header line and a column of transcripts.",
        suffixes=(".csv", ".tsv"),
        read=transcripts.read_table,
        recognizes=transcripts.TABLE.recognizes,
    ),
)

_POSITION_FORMATS = (
    PositionFormat(
        name="obf",
        description="Positions with the scores of their moves; the label is the best of them.",
        suffixes=(".obf",),
        read=partial(scored_positions.read_position_lines, unscored="left out"),
        recognizes=scored_positions.recognizes_obf,
        read_unscored=partial(scored_positions.read_position_lines, unscored="kept"),
    ),
    PositionFormat(
        name="positions",
        description="64 squares, the side to move and its score, one position a line.",
        suffixes=(),
        read=scored_positions.read_position_lines,
        recognizes=scored_positions.recognizes_lines,
        read_unscored=partial(scored_positions.read_position_lines, unscored="kept"),
    ),
    PositionFormat(
        name="table",
        description="Table (CSV, TSV, Parquet) with a column of positions and one of scores.",
        suffixes=(".csv", ".tsv", ".parquet"),
        read=scored_positions.read_position_table,
        recognizes=scored_positions.TABLE.recognizes,
    ),
)

OTHELLO = Game(
    name="othello",
    title="Othello",
    initial_position=rules.INITIAL_POSITION,
    legal_moves=rules.legal_moves,
    play=rules.play,
    is_over=rules.is_over,
    final_score=rules.final_score,
    hash_key=rules.hash_key,
    # 33 is the largest mobility known in a reachable position; 60 bounds every position.
    max_moves=60,
    move_count=65,
    max_plies=120,
    score_bounds=(-64, 64),
    format_position=notation.format_position,
    parse_position=notation.parse_position,
    format_move=notation.format_square,
    parse_move=notation.parse_square,
    count_moves=rules.count_moves,
    transform=rules.transform,
    transform_move=rules.transform_square,
    symmetry_count=8,
    perft_counts_ended=True,
    layout=BoardLayout(rows=8, columns=8),
    pass_move=rules.PASS,
    record_formats={known.name: known for known in _RECORD_FORMATS},
    position_formats={known.name: known for known in _POSITION_FORMATS},
    search_functions=single.SEARCH_FUNCTIONS,
    quiescence={"corners": {"tactical_moves": single.corner_moves}},
    make_solver=EndgameSolver,
    protocols={nboard.NBOARD.name: nboard.NBOARD},
    external_players={NBOARD_PLAYERS.name: NBOARD_PLAYERS},
)
"""The game as the registry knows it."""
