"""A thread that pushes, and its turns."""

from __future__ import annotations

import threading

import pytest

from penstock.runtime.usercode.turns import Turns


def test_it_comes_in_only_in_its_turn():
    inside, released = [], threading.Event()

    def body():
        released.wait(60)  # asleep, outside
        for number in range(3):
            turns.enter()
            inside.append(number)
            turns.leave()

    turns = Turns(body)
    assert not turns.give(0.01)  # it sleeps, and nobody waits for it
    assert (inside, turns.done) == ([], False)
    released.set()
    threading.Event().wait(0.02)
    assert inside == []  # it would, and it is not its turn
    turns.give(60)
    assert (inside, turns.done) == ([0, 1, 2], True)


def test_a_pause_ends_the_turn_until_the_next():
    inside = []

    def body():
        for number in range(3):
            turns.enter()
            inside.append(number)
            turns.pause()
            turns.leave()

    turns = Turns(body)
    for count in (1, 2, 3):
        assert turns.give(60)
        assert len(inside) == count
    assert not turns.give(60)
    assert turns.done


def test_what_it_raises_is_kept_and_a_cancelled_one_ends():
    def fails():
        raise ValueError("here")

    turns = Turns(fails)
    turns.give(60)
    with pytest.raises(ValueError, match="here"):
        raise turns.error

    def waits():
        while True:
            turns.enter()
            turns.pause()
            turns.leave()

    turns = Turns(waits)
    assert turns.give(60)
    turns.cancel()
    assert turns.done
    assert turns.error is None
