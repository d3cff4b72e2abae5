"""Commands that come while the engine thinks, and lines as they come from outside."""

import itertools
import os
import threading

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from glem.core.players.protocols.conversation import LONGEST_LINE, Conversation, DescriptorLines, Interruption
from tests.core.players.line_feed import Feed

KINDS = {"stop": Interruption.THINKING, "ping": Interruption.ALL}


def interruption(line: str) -> Interruption:
    return KINDS.get(line, Interruption.NO)


def test_commands_come_in_order() -> None:
    lines = [str(number) for number in range(1000)]
    assert list(Conversation(lines, interruption)) == lines


def test_thinking_is_ended_by_a_command_that_comes_then() -> None:
    feed = Feed()
    feed.say("go")
    conversation = Conversation(feed, interruption)
    commands = iter(conversation)
    assert next(commands) == "go"

    def think(stop: threading.Event) -> None:
        feed.say("harmless")
        feed.say("stop")
        stop.wait()

    assert not conversation.think(think)
    feed.end()
    assert list(commands) == ["harmless", "stop"]
    assert conversation.think(lambda stop: None)


def test_nothing_ends_the_thinking_of_a_script() -> None:
    lines = ["go", "ping", "go", "ping", "stop"]
    conversation = Conversation(lines, interruption)
    commands = iter(conversation)
    assert conversation.ended.wait(10)
    asked = []
    for command in commands:
        asked.append(command)
        assert command != "go" or conversation.think(lambda stop: None)
    assert asked == lines


def test_some_commands_end_what_was_asked_for_before_them_and_nothing_after() -> None:
    feed = Feed()
    for line in ("go", "go", "ping", "go"):
        feed.say(line)
    conversation = Conversation(feed, interruption)
    commands = iter(conversation)
    assert conversation.stop.wait(10)
    finished = [conversation.think(lambda stop: None) for command in itertools.islice(commands, 4) if command == "go"]
    assert finished == [False, False, True]
    feed.end()


@pytest.mark.parametrize("is_script", [True, False])
def test_what_was_there_before_thinking_does_not_end_it(is_script: bool) -> None:
    """However slowly the reader is scheduled; a script, whose end is there too, is known as such at once."""
    for _ in range(20):
        reader, writer = os.pipe()
        os.write(writer, b"go\n" + b"harmless\n" * 500 + (b"ping" if is_script else b"stop\n"))
        if is_script:
            os.close(writer)
        conversation = Conversation(DescriptorLines(reader), interruption)
        assert next(iter(conversation)) == "go"
        assert conversation.think(lambda stop: None)
        if not is_script:
            os.close(writer)
        assert conversation.ended.wait(10)
        os.close(reader)


def test_end_of_input_stops_thinking_if_it_comes_then() -> None:
    feed = Feed()
    conversation = Conversation(feed, interruption)

    def think(stop: threading.Event) -> None:
        feed.end()
        stop.wait()

    assert not conversation.think(think)
    assert conversation.think(lambda stop: None)


def read(pieces: list[bytes]) -> list[str]:
    """Lines that arrive through a pipe in such pieces."""
    reader, writer = os.pipe()

    def write() -> None:
        for piece in pieces:
            os.write(writer, piece)
        os.close(writer)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        return list(DescriptorLines(reader))
    finally:
        thread.join()
        os.close(reader)


@settings(deadline=None)
@given(st.lists(st.binary(max_size=20), max_size=10))
@example([b"name\nquit"])
@example([b"name\nquit\n"])
@example([b"name\r\nquit\r\n"])
@example([b"x" * LONGEST_LINE + b"\n"])
def test_pieces_make_the_lines_of_the_whole(pieces: list[bytes]) -> None:
    whole = b"".join(pieces)
    lines = whole.split(b"\n")
    if not lines[-1]:
        lines.pop()
    assert read([piece for piece in pieces if piece]) == [
        line.rstrip(b"\r").decode("utf-8", errors="replace") for line in lines
    ]


def test_very_long_lines_are_no_commands() -> None:
    lines = read([b"quit" + b" " * 5 * LONGEST_LINE, b"\nname\n", b"x" * (LONGEST_LINE + 1)])
    assert lines[1] == "name"
    assert [line[:8] for line in lines] == ["<a line ", "name", "<a line "]
    assert max(map(len, lines)) < 100


def test_the_first_line_can_be_looked_at() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"\n  \nname\nquit\n")
    os.close(writer)
    lines = DescriptorLines(reader)
    assert lines.first() == "name"
    assert list(lines) == ["", "  ", "name", "quit"]
    assert lines.first() == ""
    os.close(reader)
