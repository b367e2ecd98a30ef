"""The package is written in the usual words: odd ones may become fewer, and not more."""

from __future__ import annotations

from tests.house.words import budget, counts, instead

HOW = "python -m tests.house.words [PART OF A PATH OR OF A WORD] lists them"


def test_odd_words_become_fewer() -> None:
    allowed, current = budget(), counts()
    more = {word: count for word, count in current.items() if count > allowed.get(word, 0)}
    texts = [f"{word}: {count}, not {allowed.get(word, 0)}; write: {instead(word)}" for word, count in more.items()]
    assert not more, "\n".join([*texts, HOW])
    fewer = {word: count for word, count in current.items() if count < allowed[word]}
    assert not fewer, f"lower the budget to {fewer}: python -m tests.house.words --update"
    assert current.keys() == allowed.keys()
    assert sum(current.values()) > 0, "no odd word is left: this test can go"
