"""A program of Othello that speaks GTP or NBoard and behaves as its second argument says: what others can do to glem.

The first argument is the protocol, the third a file to which it adds a line for each move that it is asked for; modes
that misbehave once look there whether they have. It knows one answer, f5, which is a first move.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

ANSWERS = {
    "garbage": "=== {}",
    "blanks": "=== {} 1.50 0.0",
    "blanks and strokes": "=== {} / 1.5 / 0.0",
    "no evaluation": "=== {}//0.01",
    "word": "=== resign 1.5",
}
"""How the move is told in NBoard, in modes that do not do it as the protocol says."""

PROTOCOL, MODE, NOTES = sys.argv[1], sys.argv[2], Path(sys.argv[3])


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def busy(seconds: float) -> None:
    begin = time.process_time()
    while time.process_time() - begin < seconds:
        continue


def think() -> str:
    with NOTES.open("a") as file:
        file.write(f"{os.getpid()} {Path.cwd()}\n")
    is_first = len(NOTES.read_text().splitlines()) == 1
    if MODE == "crash" or (MODE == "crash once" and is_first):
        os._exit(3)
    if MODE == "hang":
        time.sleep(1000)
    while MODE == "flood":
        say("status I like to talk" * 100)
    while MODE == "endless line":
        sys.stdout.write("=" * 10_000)
    if MODE == "busy":
        busy(0.2)
    if MODE == "busy child":
        subprocess.run([sys.executable, "-S", __file__, "child", "child", str(NOTES)], check=True)
    if MODE == "crash later" and len(NOTES.read_text().splitlines()) % 3 != 1:
        os._exit(3)
    return {"illegal": "a1", "garbage": "\x00\xff???", "resign": "resign"}.get(MODE, "f5")


if MODE == "child":
    busy(0.2)
    sys.exit()
if MODE == "leaves":
    sys.exit()
for line in sys.stdin:
    word = line.split()[0]
    if MODE == "mute":
        continue
    if word == "quit" and MODE != "hang":
        break
    if PROTOCOL == "nboard":
        if word == "ping":
            say(f"pong {line.split()[1]}")
        if word == "go":
            say(f"{ANSWERS.get(MODE, '=== {}/1.5/0.01').format(think())}")
    elif word == "known_command":
        say("= false\n")
    elif word == "play" and (MODE == "refuses" or (MODE == "no passes" and "pass" in line)):
        say("? illegal move\n")
    elif word == "genmove":
        say(f"= {think()}\n")
    else:
        say("=\n")
