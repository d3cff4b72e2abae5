"""A UCI engine that behaves as its first argument says: what others can do to glem.

Its second argument, if any, is a file to which it adds a line for each search; modes that misbehave once look there
whether they have.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

MODE = sys.argv[1]
NOTES = Path(sys.argv[2]) if len(sys.argv) > 2 else None
INFO = "info depth 7 nodes 1234 score cp 31 wdl 300 600 100 pv e2e4"
DIALECTS = {"capitals": " D8H4", "blanks": " \t d8h4  ponder a2a3", "as people write it": " Qh4# ponder a3"}
"""How a mating move is told, in modes that do not do it as the protocol says."""


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def is_first() -> bool:
    assert NOTES is not None
    return len(NOTES.read_text().splitlines()) == 1


def board_of(position: str) -> Any:
    import chess

    words = position.split()
    place = words.index("moves") if "moves" in words else len(words)
    board = chess.Board() if words[1] == "startpos" else chess.Board(" ".join(words[2:place]))
    for text in words[place + 1 :]:
        board.push_uci(text)
    return board


def move(position: str) -> str:
    """A mating move, or the first legal one."""
    board = board_of(position)
    legal = list(board.legal_moves)
    for candidate in legal:
        board.push(candidate)
        is_mate = board.is_checkmate()
        board.pop()
        if is_mate:
            return candidate.uci()
    return legal[0].uci()


def flood(text: str) -> None:
    while True:
        sys.stdout.write(text * 1000)


def search(position: str) -> None:
    if NOTES is not None:
        with NOTES.open("a") as file:
            file.write(f"{position}\n")
    if MODE == "crash" or (MODE == "crash once" and is_first()):
        os._exit(3)
    if MODE == "hang" or (MODE == "hang once" and is_first()):
        time.sleep(1000)
    if MODE == "flood":
        flood("info string I like to talk\n")
    if MODE == "endless line":
        flood("info string ")
    if MODE == "illegal":
        say("bestmove e2e5")
    elif MODE in DIALECTS:
        say(f"bestmove{DIALECTS[MODE]}")
    elif MODE == "garbage":
        say("info multipv 999999999 depth x score cp")
        say("info score cp 99999999999999999999 wdl 1 2")
        say("\x00\x01 bestmove")
        say("bestmove nonsense ponder")
    elif MODE == "silent":
        say("bestmove (none)")
    elif MODE == "score only":
        say("info depth 1 score cp -50 upperbound")
        say("info depth 1 score mate -3 nodes 77")
        say("info depth 1 multipv 2 score cp 1000 nodes 78")
        say("bestmove (none)")
    elif MODE == "no nodes":
        for nodes in range(1, 10_000):
            say(f"info depth 1 score cp {nodes} nodes {nodes}")
            if nodes == 40 and sys.stdin.readline().strip() == "stop":
                say("bestmove (none)")
                return
    elif MODE == "no line":
        say("info depth 2 score cp 31")
        say(f"bestmove {next(iter(board_of(position).legal_moves))}")
    elif MODE == "lines":
        first, second, third, *_ = map(str, board_of(position).legal_moves)
        say(f"info depth 1 multipv 1 score cp -900 pv {second}")
        say(f"info depth 2 multipv 2 score cp 20 pv {second} a7a6 a2a3")
        say(f"info depth 2 multipv 1 score cp 31 pv {first} a7a6")
        say(f"info depth 2 multipv 3 score cp -100 upperbound pv {third}")
        say("info depth 2 multipv 4 score cp 5 pv e2e9")
        say(f"info depth 2 multipv 5 score mate -4 pv {third} a7a6")
        say("info depth 2 multipv 6 score cp 3")
        say(f"bestmove {first}")
    elif MODE in {"score", "hang once"}:
        say(INFO)
        say("bestmove (none)")
    else:
        say("info depth 1 score cp 12 lowerbound nodes 5")
        say(INFO)
        say("info string nothing that counts")
        say(f"bestmove {move(position)}")


def main() -> None:
    if MODE == "deaf":
        # Neither the end of its input nor a word ends it.
        time.sleep(1000)
    position = "position startpos"
    prepares = MODE == "prepares"
    for line in sys.stdin:
        word = line.split()[0] if line.strip() else ""
        if word == "uci":
            if MODE == "mute":
                continue
            if MODE == "leaves":
                return
            say("hello, this is no UCI engine" if MODE == "other" else "id name fake")
            say("option name Hash type spin default 16 min 1 max 64")
            say("option name UCI_ShowWDL type check default false")
            if MODE == "options":
                say("option name UCI_Chess960 type check default false")
                say("option name Clear Hash type button")
                say("option name Style type combo default Solid var Solid var Very Risky")
                say("option name Book File type string default <empty>")
                say("option name Contempt type spin default 0 min -100 max 100")
            if MODE != "other":
                say("uciok")
        elif word == "isready":
            if MODE == "busy":
                continue
            if prepares:
                time.sleep(1.0)
                prepares = False
            say("readyok")
        elif word == "setoption" and NOTES is not None and MODE == "options":
            with NOTES.open("a") as file:
                file.write(line)
        elif word == "position":
            position = line.strip()
        elif word == "go":
            search(position)
        elif word == "quit":
            return


main()
