"""Files of patterns: what they hold, and what is said of bad ones."""

from pathlib import Path

import pytest

from glem.core.errors import BadInputError
from glem.core.features.learning import Learning
from glem.core.patterns.patterns import PatternSet


def test_a_file_is_a_pattern_set(othello_learning: Learning, tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("# edges\n\nedge: a1 b1 c1 d1 e1 f1 g1 h1  # a row\n mobile : mobility a1\r\n", encoding="utf-8")
    patterns = PatternSet.named(othello_learning, path)
    assert patterns.names == {"edge": ["a1", "b1", "c1", "d1", "e1", "f1", "g1", "h1"], "mobile": ["mobility", "a1"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("edge a1 b1", r"mine.txt:2: expected `name: feature"),
        (": a1", r"mine.txt:2: expected `name: feature"),
        ("edge:", r"mine.txt:2: pattern 'edge' has 0 features, expected 1 to 20"),
        ("edge: a1 i9", r"mine.txt:2: pattern 'edge': othello has no feature 'i9'"),
        ("edge: a1 b1 a1", r"mine.txt:2: pattern 'edge' names a feature twice"),
        ("edge: a1\nedge: b1", r"mine.txt:3: a second pattern 'edge'"),
        ("all: " + " ".join(f"{c}{r}" for c in "abc" for r in range(1, 8)), "has 21 features, expected 1 to 20"),
        ("\n".join(f"{n}: a1" for n in range(1001)), "mine.txt:1002: more than 1,000 patterns"),
        ("# nothing", "mine.txt: holds no pattern"),
        ("#" * (1 << 20), "mine.txt: more than 1,048,576 bytes"),
        ("\udc80: a1", "mine.txt: damaged, or no file of patterns"),
    ],
)
def test_bad_files(othello_learning: Learning, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.txt"
    path.write_bytes(f"# a comment\n{text}".encode(errors="surrogateescape"))
    with pytest.raises(BadInputError, match=message):
        PatternSet.named(othello_learning, path)


def test_no_such_set_or_file(othello_learning: Learning, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="nor is there such a file; it has: logistello"):
        PatternSet.named(othello_learning, tmp_path / "missing.txt")
