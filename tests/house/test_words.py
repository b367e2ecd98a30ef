"""The package is written in the usual words, and the tests name things for what they hold."""

from __future__ import annotations

import pytest

from tests.house.words import instead, places, words_of


def test_there_are_no_odd_words() -> None:
    odd = [f"{place.path}:{place.line}: {place.text!r}; write: {instead(place.word)}" for place in places()]
    assert not odd, "\n".join(odd)


@pytest.mark.parametrize(
    ("source", "word"),
    [
        ("raise ValueError(f'{path} is no file')", "text"),
        ("for each in records: pass", "name each"),
        ("class Source:\n    def made(self): self._told = 1", "name made"),
        ("def write(given): pass", "name given"),
    ],
)
def test_an_odd_word_is_found(source: str, word: str) -> None:
    assert any(place.word.startswith(word) for place in words_of(source, "module.py"))
