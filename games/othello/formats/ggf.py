"""Games in the Generic Game Format of the game server GGS: ``(;GM[Othello]...BO[8 ... *]B[f5]W[d6]...;)``.

M. Buro and I. Durdanovic, "Generic Game Format", https://www.skatgame.net/mburo/ggsa/ggf. Moves may carry an evaluation
and a time, ``B[F5/1.2/0.5]``; clocks are ``TI[15:00/00:10/02:00]``: time, increment, time after the first overrun. GGS
keeps files of one or more games a line; other programs write a game over several lines.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from attrs import define

from glem.core.errors import BadInputError
from glem.core.files.packed import LineBlock, line_blocks
from glem.core.game.game import Game
from glem.core.game.records import GameRecords
from glem.core.positions.replay import replay
from glem.core.positions.text_fields import not_empty
from glem.core.positions.validation import BadRecords
from glem.core.search.results import Clock
from glem.games.othello import rules
from glem.games.othello.formats.transcripts import GameChecks
from glem.games.othello.notation import format_position, format_square, parse_position, parse_square

_TAG = re.compile(r"\s*([A-Za-z]+)\s*\[([^\]]*)\]")
_ESCAPED_TAG = re.compile(r"\s*([A-Za-z]+)\s*\[((?:[^\]\\]|\\.)*)\]", re.DOTALL)
_END = re.compile(r"\s*;\)")
_BOARD = re.compile(r"8\s*([-*OoXx.\s]+?)\s*([*OoXx])\s*")
_TYPE = re.compile(r"([a-z?]*)8(?!\d)([a-z?\d]*)", re.ASCII | re.IGNORECASE)
_SAME_RULES = "sbwr?"
"""Letters of types: two games at once, who has which colour, random discs at the start."""
_KOMIS = ("KM", "KO")
_VARIANTS = {
    "a": "anti-Othello, which the player with fewer discs wins",
    "k": "Othello with a komi, which its result has and its discs have not",
}
_DURATION = re.compile(r"(?:(?:(?:(\d+)\.)?(\d+):)?(\d+):)?(\d+(?:\.\d*)?)", re.ASCII)
_NUMBER = re.compile(r"\d+(\.\d*)?|\.\d+", re.ASCII)
_LEAST_CLOCK = 0.1
_BLACK = "*Xx"
_SIDES = frozenset({"B", "W"})
_FIRST_GAME = re.compile(rb"(?:\s|\d|[#%][^\n]*\n)*\(;.{0,999}?\bGM\s*\[\s*othello", re.IGNORECASE | re.DOTALL)
_BEGIN = re.compile(r"[\s\d]*\(;")
_LONGEST_GAME = 1 << 20
_RESULT = re.compile(r"\s*([+-]?\d{1,2}(?:\.\d*)?)(:[a-z])?\s*", re.IGNORECASE)
_BRACKETS = str.maketrans("[]", "()")
_PASSING = "PA"
_GAME = "othello"
_ENDS = {"time": ":t", "failure": ":l", "resigned": ":r"}
_SQUARES = 64
_LEAST_SECONDS = 0.0005
_PLAYERS = ("black_player", "white_player")


@define(frozen=True)
class GgfGame:
    """A game as it is written, perhaps unfinished.

    Parameters
    ----------
    position
        Where it began.
    black_to_move
        Whether black moved first.
    moves
        Of each move whether it is black's, its square, and its seconds; passes may be left out.
    black_clock, white_clock
        The clocks before the first move; None for a player without a clock.
    score
        Result from black's view; nan where there is none.
    is_decided
        Whether the result says that the game ended before its last move: by resignation, on time, by agreement.
    players
        Names of black and white.
    """

    position: rules.Position = rules.INITIAL_POSITION
    black_to_move: bool = True
    moves: tuple[tuple[bool, int, float], ...] = ()
    black_clock: Clock | None = None
    white_clock: Clock | None = None
    score: float = math.nan
    is_decided: bool = False
    players: tuple[str, str] = ("", "")


def parse_ggf(text: str, at: int = 0) -> tuple[GgfGame, int]:
    """Read the first game from an index on; its moves are not checked.

    Parameters
    ----------
    text
        The game; a number of games may stand before it, as GGS writes it.
    at
        Where to begin.

    Returns
    -------
    game, behind
        The game, and the index behind it.

    Raises
    ------
    BadInputError
        There is no game, it is not one of Othello on 64 squares, or something is wrong with a tag.
    """
    tags, behind = _tags(text, at)
    values = dict(tags)
    if values.get("GM", _GAME).lower() != _GAME:
        raise BadInputError(f"a game of {values['GM']!r}, not of Othello")
    _check_variant(values)
    position, black_to_move = rules.INITIAL_POSITION, True
    if "BO" in values:
        board = _BOARD.fullmatch(values["BO"])
        if board is None:
            raise BadInputError(
                f"{values['BO'][:80]!r} is no board: 8, 64 of - * and O, and the side to move are needed"
            )
        position, black_to_move = parse_position(f"{''.join(board[1].split())} {board[2]}"), board[2] in _BLACK
    result = _RESULT.fullmatch(values.get("RE", ""))
    time = values.get("TI", "")
    game = GgfGame(
        position,
        black_to_move,
        tuple((name == "B", *parse_move_item(value)) for name, value in tags if name in _SIDES),
        black_clock=_clock(values.get("TB", time)),
        white_clock=_clock(values.get("TW", time)),
        score=math.nan if result is None else float(result[1]),
        is_decided=result is not None and result[2] is not None,
        players=(values.get("PB", ""), values.get("PW", "")),
    )
    return game, behind


def _check_variant(values: Mapping[str, str]) -> None:
    """Refuse a game by other rules: by its type, like ``8``, ``s8r20`` or ``8a``, or by a komi of its own."""
    kind = values.get("TY", "8")
    found = _TYPE.fullmatch(kind)
    if found is None:
        raise BadInputError(f"board type {kind[:20]!r}, only that of 8x8 squares is known")
    letters = [(f"TY[{kind[:20]}]", letter) for letter in (found[1] + found[2]).lower() if not letter.isdigit()]
    komis = [(f"{name}[{values[name][:20]}]", "k") for name in _KOMIS if values.get(name, "").strip("+-0.")]
    for tag, letter in [*letters, *komis]:
        if letter not in _SAME_RULES:
            what = _VARIANTS.get(letter, f"an unknown kind, {letter!r}")
            raise BadInputError(f"{tag} is a game of {what}; only normal Othello is known")


def _tags(text: str, at: int) -> tuple[list[tuple[str, str]], int]:
    """Names, in capitals, and values of the tags of the first game from an index on, and the index behind it."""
    first, begin = at, text.find("(;", at)
    at = begin + 2
    tags: list[tuple[str, str]] = []
    while (end := _END.match(text, at)) is None:
        tag = _TAG.match(text, at)
        if begin < 0 or not text[at:].strip():
            raise BadInputError(f"{text[first : first + 20]!r} is no game: it begins with (; and ends with ;)")
        if tag is None:
            raise BadInputError(f"{text[at : at + 20]!r} in a game where a tag like B[f5] is expected")
        if tag[2].endswith("\\") and not (_TAG.match(text, tag.end()) or _END.match(text, tag.end())):
            # The bracket was one of the value.
            tag = _ESCAPED_TAG.match(text, at) or tag
        at = tag.end()
        tags.append((tag[1].upper(), tag[2].replace("\\[", "[").replace("\\]", "]").strip()))
    return tags, end.end()


def _clock(text: str) -> Clock | None:
    """Clock of ``time/increment/grace``; none where no time is given."""
    parts = [_seconds(part) for part in text.split("/")]
    return Clock(parts[0], parts[1] if len(parts) > 1 else 0.0) if parts[0] > 0 else None


def _seconds(text: str) -> float:
    """Seconds of ``days.hours:minutes:seconds``, of which leading parts may be missing; 0 for other texts."""
    found = _DURATION.match(text.strip())
    if found is None or len(found.group()) > 20:
        return 0.0
    days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def parse_move_item(text: str) -> tuple[int, float]:
    """Square and seconds of ``F5``, ``F5/evaluation`` or ``F5/evaluation/seconds``.

    Raises
    ------
    BadInputError
        It does not begin with a square or a pass.
    """
    name, *rest = text.strip().split("/")
    seconds = _NUMBER.match(rest[1].strip()) if len(rest) > 1 else None
    return parse_square(name.strip()), float(seconds.group()) if seconds and len(seconds.group()) < 20 else 0.0


def played(game: GgfGame) -> tuple[list[int], dict[bool, Clock | None]]:
    """Play a game.

    Returns
    -------
    moves, clocks
        Its moves, passes included, and the clocks after them, black's under True.

    Raises
    ------
    BadInputError
        A move is illegal.
    """
    position, black = game.position, game.black_to_move
    clocks = {True: game.black_clock, False: game.white_clock}
    moves: list[int] = []
    for is_black, move, seconds in game.moves:
        if is_black != black and rules.listed_moves(position) == [rules.PASS]:
            position, black = rules.play(position, rules.PASS), not black
            moves.append(rules.PASS)
        if move == rules.PASS and not rules.listed_moves(position):
            # Some programs write passes behind the end.
            continue
        if is_black != black or move not in rules.listed_moves(position):
            side = "black" if is_black else "white"
            raise BadInputError(f"move {len(moves) + 1}, {format_square(move)} of {side}, is illegal")
        clocks[is_black] = after_move(clocks[is_black], seconds)
        position, black = rules.play(position, move), not black
        moves.append(move)
    return moves, clocks


def after_move(clock: Clock | None, seconds: float) -> Clock | None:
    """Clock of a player after a move that took so long; it never runs out, since the server lets play go on."""
    if clock is None:
        return None
    return Clock(max(clock.remaining - seconds + clock.increment, _LEAST_CLOCK), clock.increment)


def recognizes(head: bytes) -> bool:
    """Whether the first bytes of a file look like GGF of Othello."""
    return _FIRST_GAME.match(head) is not None


def read_ggf(game: Game, path: Path, /, *, skip_bad: bool, chunk_games: int, max_bytes: int) -> Iterator[GameRecords]:
    """Read and check games in GGF, also from ``.gz``, ``.xz`` and ``.zst``.

    A game is bad when it is no game of Othello on 64 squares, has an illegal move or one of the wrong side, or a result
    that a finished game's moves contradict. Arguments and errors are those of
    :func:`glem.games.othello.formats.transcripts.read_transcripts`.

    Yields
    ------
    GameRecords
        Columns ``number`` (of the line), ``black_player``, ``white_player`` and ``stored_score``.
    """
    blocks = line_blocks(path, lines=chunk_games, max_bytes=max_bytes)
    return not_empty(
        _records(game, path, blocks, skip_bad),
        path,
        "no games; expected lines like (;GM[Othello]...B[f5]W[d6]...;)",
    )


def _records(game: Game, path: Path, blocks: Iterator[LineBlock], skip_bad: bool) -> Iterator[GameRecords]:
    checks = GameChecks(game)
    for texts in _texts(blocks):
        lines: list[int] = []
        games: list[GgfGame] = []
        problems: list[str] = []
        for line, text in texts:
            at = 0
            while text[at:].strip():
                problem = ""
                try:
                    one, at = parse_ggf(text, at)
                except BadInputError as error:
                    one, at, problem = GgfGame(), len(text), str(error)
                lines.append(line)
                games.append(one)
                problems.append(problem)

        def place(index: int, lines: list[int] = lines) -> str:
            return f"{path}:{lines[index]}"

        bad = BadRecords(len(games), place, skip_bad)
        bad.mark(np.array([problem != "" for problem in problems], np.bool_), problems.__getitem__)
        moves = [move for one in games for move in one.moves]
        sides = np.array([1 if is_black else -1 for is_black, _, _ in moves], np.int8)
        names = tuple(dict.fromkeys(name for one in games for name in one.players))
        boards = np.array([one.position for one in games], np.uint64).reshape(-1, 2)
        records = GameRecords.from_moves(
            np.array([move for _, move, _ in moves], np.uint8),
            np.cumsum([0, *(len(one.moves) for one in games)], dtype=np.int64),
            np.array([one.score for one in games], np.float32),
            extra={
                "number": np.array(lines, np.int64),
                **{
                    column: np.array([names.index(one.players[place]) for one in games], np.int32)
                    for place, column in enumerate(_PLAYERS)
                },
            },
            names=dict.fromkeys(_PLAYERS, names),
            starts=game.position_type(*boards.T),
            start_side=np.array([1 if one.black_to_move else -1 for one in games], np.int8),
            source=path.name,
        )
        yield checks.validated(records, sides, bad, np.array([one.is_decided for one in games], np.bool_))


def _texts(blocks: Iterator[LineBlock]) -> Iterator[list[tuple[int, str]]]:
    """Give the texts of the games, each with the number of its first line: a line, or several for a game that is open.

    Lines of comments between games are left out.
    """
    number, size, parts = 0, 0, list[str]()
    for block in blocks:
        found: list[tuple[int, str]] = []
        for line, (start, stop) in enumerate(zip(block.starts, block.ends, strict=True), block.first_number):
            text = block.data[start:stop].tobytes().decode("utf-8", "replace")
            size += len(text) + 1
            if parts and (size > _LONGEST_GAME or _BEGIN.match(text)):
                found.append((number, "\n".join(parts)))
                parts = []
            begin, end = text.rfind("(;"), text.rfind(";)")
            if parts:
                parts.append(text)
                if end > begin:
                    found.append((number, "\n".join(parts)))
                    parts = []
            elif begin > end:
                number, size, parts = line, 0, [text]
            elif not text.startswith(("#", "%")):
                found.append((line, text))
        yield found
    if parts:
        yield [(number, "\n".join(parts))]


def write_ggf(game: Game, records: GameRecords, /) -> Iterator[bytes]:
    """Yield a line per game, with players, result, and of each move what its player expected and its seconds."""
    reached = replay(game, records)
    for index in range(len(records)):
        start = game.initial_position if records.starts is None else records.start_of(index)
        side = 1 if records.start_side is None else int(records.start_side[index])
        tags = {
            "GM": "Othello",
            "PC": "glem",
            "PB": records.name("first_player", index).translate(_BRACKETS) or "?",
            "PW": records.name("second_player", index).translate(_BRACKETS) or "?",
            "RE": _result(records, index),
            **_first_position(start, black_to_move=side > 0),
        }
        begin, end = int(records.offsets[index]), int(records.offsets[index + 1])
        moves = "".join(_move(records, place, int(reached.move_side[place])) for place in range(begin, end))
        yield f"{_game(tags, moves)}\n".encode()


def game_text(start: rules.Position, moves: Sequence[int], clock: Clock | None = None) -> str:
    """Write an unfinished game, of which nobody but the mover is known.

    Parameters
    ----------
    start
        Where it began; black moved first.
    moves
        Its moves, passes included.
    clock
        That of both players, in whole seconds.
    """
    tags = {"GM": "Othello", "PC": "glem", "PB": "black", "PW": "white", "RE": "?"}
    if clock is not None:
        tags["TI"] = f"{_duration(max(clock.remaining, 1))}/{_duration(clock.increment)}/02:00"
    texts = (f"{'WB'[ply % 2 == 0]}[{_move_name(move)}]" for ply, move in enumerate(moves))
    return _game({**tags, **_first_position(start, black_to_move=True)}, "".join(texts))


def _game(tags: Mapping[str, str], moves: str) -> str:
    return f"(;{''.join(f'{name}[{value}]' for name, value in tags.items())}{moves};)"


def _first_position(position: rules.Position, *, black_to_move: bool) -> dict[str, str]:
    board = format_position(position, black_to_move=black_to_move).translate(str.maketrans("X", "*"))
    return {"TY": "8", "BO": f"8 {board}"}


def _duration(seconds: float) -> str:
    minutes, rest = divmod(math.floor(seconds), 60)
    return f"{minutes:02d}:{rest:02d}"


def _move_name(move: int) -> str:
    return _PASSING if move == rules.PASS else format_square(move).upper()


def _result(records: GameRecords, index: int) -> str:
    score, ending = float(records.score[index]), ""
    if math.isnan(score) and records.theoretical_ply[index] == records.lengths[index]:
        score = float(records.theoretical_score[index])
    if math.isnan(score) and "result" in records.extra:
        score = _SQUARES * float(records.extra["result"][index])
        ending = _ENDS.get(records.name("end", index), "")
    return "?" if math.isnan(score) else f"{score:+.3f}{ending}"


def _move(records: GameRecords, place: int, side: int) -> str:
    move = int(records.moves[place])
    parts = [_move_name(move)]
    notes = records.move_columns
    if notes:
        score, seconds = float(notes["comment_score"][place]), float(notes["seconds"][place])
        parts += [f"{score:.2f}" if math.isfinite(score) else "", f"{seconds:.3f}" if seconds >= _LEAST_SECONDS else ""]
    return f"{'B' if side > 0 else 'W'}[{'/'.join(parts).rstrip('/')}]"
