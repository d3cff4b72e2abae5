"""Connect Four on a list of columns, each a list of discs from the bottom up."""

Board = list[list[str]]
"""Seven columns; a disc is ``X`` (who began) or ``O``."""

DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))


def empty_board() -> Board:
    return [[] for _ in range(7)]


def side_to_move(board: Board) -> str:
    return "XO"[sum(map(len, board)) % 2]


def cell(board: Board, column: int, row: int) -> str | None:
    """Disc of a cell, ``-`` if it is empty; None outside of the board."""
    if not (0 <= column < 7 and 0 <= row < 6):
        return None
    return board[column][row] if row < len(board[column]) else "-"


def lines() -> list[list[tuple[int, int]]]:
    """All 69 lines of four cells."""
    starts = [(column, row, step) for column in range(7) for row in range(6) for step in DIRECTIONS]
    found = [[(column + n * step[0], row + n * step[1]) for n in range(4)] for column, row, step in starts]
    return [line for line in found if all(cell(empty_board(), *place) is not None for place in line)]


LINES = lines()
PLACES = [tuple(6 * column + row for column, row in line) for line in LINES]


def has_four(board: Board, disc: str) -> bool:
    cells = [padded for discs in board for padded in (*discs, *"-" * (6 - len(discs)))]
    return any(disc == cells[a] == cells[b] == cells[c] == cells[d] for a, b, c, d in PLACES)


def legal_moves(board: Board) -> list[int]:
    # Only who has just moved can have completed a line.
    if has_four(board, "OX"[side_to_move(board) == "O"]):
        return []
    return [column for column in range(7) if len(board[column]) < 6]


def play(board: Board, column: int) -> Board:
    after = [list(discs) for discs in board]
    after[column].append(side_to_move(board))
    return after


def final_score(board: Board) -> int:
    """From the side to move."""
    own = side_to_move(board)
    opponent = "O" if own == "X" else "X"
    return has_four(board, own) - has_four(board, opponent)


def text_of(board: Board) -> str:
    cells = [cell(board, column, row) for row in reversed(range(6)) for column in range(7)]
    return "".join(map(str, cells)) + " " + side_to_move(board)


def solve(board: Board, known: dict[str, int] | None = None) -> int:
    """Score under best play, by trying everything; ``known`` remembers the positions met before."""
    known = {} if known is None else known
    text = text_of(board)
    if text not in known:
        known[text] = max((-solve(play(board, move), known) for move in legal_moves(board)), default=final_score(board))
    return known[text]


def winning_cells(board: Board, disc: str) -> set[tuple[int, int]]:
    """Empty cells, playable or not, on which a disc would complete a line."""
    found = set()
    for line in LINES:
        contents = [cell(board, *place) for place in line]
        if contents.count(disc) == 3 and contents.count("-") == 1:
            found.add(line[contents.index("-")])
    return found


def open_lines(board: Board, disc: str) -> int:
    """Lines with at least one disc of a side and none of the other's."""
    contents = [{cell(board, *place) for place in line} - {"-"} for line in LINES]
    return contents.count({disc})
