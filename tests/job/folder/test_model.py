"""Whatever drivers do at a time, are paused at, killed at, and wake up at: one history, nothing lost, nothing left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock.job.folder.cleaner import Cleaner
from penstock.job.folder.files import Pins
from penstock.job.folder.writer import Writer
from tests.effort import SWEEP
from tests.job.folder.model import Violation, World, explore

pytestmark = pytest.mark.slow

STEP = ("write", "commit", "clean")
BRIEF = ("open", "write", "commit")
ONE, TWO, FOUR = (("open", *STEP * count) for count in (1, 2, 4))
CLEANS_FIRST = ("open", "clean", *STEP)
HOLDS = (*BRIEF, "hold", *STEP * 2, "copied", *STEP)
PINS = (*BRIEF, "pin", *STEP, "unpin", *STEP)
REFERS = (*BRIEF, "refer", "write", "commit")
REMOVED = ("open", "refer", "remove 0", "clean", *STEP)
"""A savepoint by reference, of what may be the version of the driver before, whose own savepoint is removed then."""


def world(*plans: tuple[str, ...], **more: int) -> World:
    return World(frozenset(), (), plans, **more)


WORLDS = {
    "two drivers": (world(TWO, CLEANS_FIRST), 1000),
    "a long one": (world(FOUR, CLEANS_FIRST), 1000),
    "the first one comes very late": (world(ONE, TWO), 1000),
    "a store that does not answer": (world(TWO, BRIEF, faults=1), 1000),
    "a store that does not answer twice": (world(BRIEF, ("open",), faults=2), 1000),
    "failing steps": (world(TWO, CLEANS_FIRST, failures=1), 1000),
    "late tasks": (world(ONE, CLEANS_FIRST, zombies=1), 1000),
    "pinned versions": (world(PINS, CLEANS_FIRST), 1000),
    "savepoints by reference": (world(REFERS, REMOVED), 1000),
    "a savepoint beside steps": (world(HOLDS, CLEANS_FIRST), 1000),
    "a savepoint beside steps that fail": (world(HOLDS, failures=1), 100),
    "three drivers": (world(BRIEF, BRIEF[:2], ("open",)), 1000),
}


@pytest.mark.parametrize("name", WORLDS)
def test_nothing_is_lost_and_nothing_is_left_in_any_world(name: str) -> None:
    """In `make sweep` in each; else in about a tenth of them, at all depths."""
    first, least = WORLDS[name]
    assert explore(first, 150_000, 1 if SWEEP else 0.85) in range(least if SWEEP else least // 20, 150_000)


def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks whether another driver has come."""
    monkeypatch.setattr(Writer, "check", lambda self: setattr(self, "_unchecked", False))


def cleans_unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cleaner does not look whether another driver has come."""
    monkeypatch.setattr(Cleaner, "_garbage", without(Writer, "check", Cleaner._garbage))


def cleans_in_another_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """State files go before the manifests that name them."""
    garbage: Any = Cleaner._garbage
    monkeypatch.setattr(Cleaner, "_garbage", lambda self: garbage(self)[::-1])


def seals_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that takes the folder over goes on from what it finds."""
    create: Any = Writer._create
    monkeypatch.setattr(Writer, "_create", lambda self, one: one.sealed or create(self, one))


def forgets_doubts(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a store did not answer is taken for not written."""

    def settled(self: Any) -> Any:
        self._doubtful = None
        return self.newest

    monkeypatch.setattr(Writer, "settled", settled)


def forgets_pins(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver does not look for what was pinned before it."""
    monkeypatch.setattr("penstock.job.folder.files.Pins.pinned", lambda self: [])


def frees_what_one_does_not_need(monkeypatch: pytest.MonkeyPatch) -> None:
    """One savepoint that was removed is taken for all."""

    def changed(self: Pins) -> Any:
        pins = self.entries()
        freed = {version for _, kind, version, _ in pins if kind == "free"}
        return [(version, [path for path, _, of_version, _ in pins if of_version == version]) for version in freed]

    monkeypatch.setattr(Pins, "over", changed)


def holds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version that is being copied is not kept."""
    monkeypatch.setattr(Writer, "hold", lambda self, version: None)


def without(owner: type, name: str, call: Any) -> Any:
    """A function during which a method does nothing."""

    def changed(self: Any, **how: Any) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(owner, name, lambda self: None)
            return call(self, **how)

    return changed


@pytest.mark.parametrize(
    ("broken", "name"),
    [
        (unchecked, "the first one comes very late"),
        (cleans_unchecked, "two drivers"),
        (cleans_in_another_order, "a long one"),
        (seals_nothing, "two drivers"),
        (forgets_doubts, "a store that does not answer"),
        (forgets_pins, "pinned versions"),
        (forgets_pins, "savepoints by reference"),
        (frees_what_one_does_not_need, "savepoints by reference"),
        (holds_nothing, "a savepoint beside steps"),
    ],
)
def test_each_part_of_the_protocol_is_needed(
    broken: Callable[[pytest.MonkeyPatch], None], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(monkeypatch)
    with pytest.raises(Violation):
        explore(WORLDS[name][0], 150_000)


def test_one_version_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.job.folder.model.RETAINED", 1)
    assert explore(WORLDS["two drivers"][0], 150_000) in range(1000, 150_000)
