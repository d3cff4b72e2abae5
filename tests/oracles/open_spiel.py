"""Games of OpenSpiel walked through with pyspiel alone."""

import random
from collections.abc import Iterator
from typing import Any


def sequences(state: Any, depth: int) -> int:
    """Count the action sequences of exactly that length; those that end earlier do not count."""
    if depth == 0:
        return 1
    if state.is_terminal():
        return 0
    return sum(sequences(state.child(action), depth - 1) for action in state.legal_actions())


def random_game(game: Any, seed: int) -> Iterator[tuple[Any, int | None]]:
    """States of one random game, each with the action that follows; None at the end."""
    generator = random.Random(seed)
    state = game.new_initial_state()
    while not state.is_terminal():
        action = generator.choice(state.legal_actions())
        yield state.clone(), action
        state.apply_action(action)
    yield state.clone(), None
