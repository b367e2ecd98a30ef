"""The text of the word counts: made once, always the same."""

from __future__ import annotations

import random
from itertools import accumulate
from pathlib import Path

VOCABULARY = 50_000
LINE = 10  # words
FILES = 2  # one for each reader, in every engine


def text(folder: Path, words: int) -> Path:
    """A folder of two text files with so many words, ten to a line, drawn by Zipf's law from 50,000; made if it is not
    there."""
    path = folder / f"words-{words}"
    if not path.exists():
        making = path.with_suffix(".part")
        making.mkdir(parents=True, exist_ok=True)
        drawn = random.Random(5)
        vocabulary = _vocabulary(drawn)
        shares = list(accumulate(1 / rank for rank in range(1, VOCABULARY + 1)))
        for number in range(FILES):
            with open(making / f"part-{number}.txt", "w", encoding="utf-8", newline="\n") as file:
                for _ in range(words // FILES // LINE):
                    file.write(" ".join(drawn.choices(vocabulary, cum_weights=shares, k=LINE)) + "\n")
        making.rename(path)
    return path


def _vocabulary(drawn: random.Random) -> list[str]:
    """Different words of 2 to 12 letters, in an order that does not depend on hashes."""
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        words["".join(drawn.choices("etaoinshrdlucmfwypvbgkjqxz", k=drawn.randint(2, 12)))] = None
    return list(words)
