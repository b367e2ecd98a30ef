"""Whatever drivers of a job do to one another at the transactional id: each record once, and the rightful one lives."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from penstock.connectors.kafka import client, transactions
from penstock.connectors.kafka.records import packed
from penstock.connectors.kafka.transactions import Sender
from penstock.errors import FencedError

VERSIONS = 2
FENCED = (KafkaError._FENCED, "another producer has the id", True)


class Violation(AssertionError):
    """Something has happened that must not."""


class Paused(BaseException):
    """The driver wants another call. Nothing catches it."""


@dataclass(frozen=True)
class World:
    drivers: tuple[tuple[tuple[bool, Any], ...], ...]
    ended: tuple[str, ...]
    owner: int = -1
    version: int = 0
    epoch: int = 0
    marker: int | None = None
    sent: tuple[bytes, ...] = ()
    strangers: int = 0


class Producer:
    """Of transactions, as Kafka's client has it. What it has not committed nobody sees."""

    def __init__(self, life: Life) -> None:
        self._life = life
        self._epoch = -1
        self._values: list[bytes] = []
        self._marker: int | None = None

    def init_transactions(self, _: float) -> None:
        def taken(world: World) -> tuple[World, int]:
            return replace(world, epoch=world.epoch + 1), world.epoch + 1

        self._epoch = self._life.call(taken)

    def begin_transaction(self) -> None:
        self._values, self._marker = [], None

    def produce(self, topic: str, value: bytes, *_: Any) -> None:
        self._values.append(value)

    def poll(self, _: float) -> None: ...

    def send_offsets_to_transaction(self, offsets: Sequence[Any], *_: Any) -> None:
        self._call(lambda world: world)
        self._marker = offsets[0].offset

    def commit_transaction(self, _: float) -> None:
        self._call(lambda world: replace(world, marker=self._marker, sent=(*world.sent, *self._values)))

    def abort_transaction(self, _: float) -> None:
        self._call(lambda world: world)

    def _call(self, effect: Callable[[World], World]) -> None:
        def unless_fenced(world: World) -> tuple[World, None]:
            if world.epoch != self._epoch:
                raise KafkaException(KafkaError(*FENCED))
            return effect(world), None

        self._life.call(unless_fenced)


class Consumer:
    def __init__(self, life: Life) -> None:
        self._life = life

    def ask(self, _: float) -> list[Any]:
        from confluent_kafka import TopicPartition

        marker = self._life.call(lambda world: (world, world.marker))
        return [] if marker is None else [TopicPartition("topic", 0, marker)]

    def consumer_group_metadata(self) -> None: ...

    def close(self) -> None: ...


class Files:
    """The files of all versions, one each with a record."""

    def __init__(self, folder: Path) -> None:
        self.paths, self.before = [""], [0, 0]
        for version in range(1, VERSIONS + 1):
            path = folder / str(version)
            path.write_bytes(packed([("topic", -1, 0, None, str(version).encode(), None)]))
            self.paths.append(str(path))
            self.before.append(self.before[-1] + path.stat().st_size)


class Life:
    """A driver, lived up to one call more than it has answers."""

    def __init__(self, world: World, number: int, files: Files) -> None:
        self.world, self._number, self._files = world, number, files
        self._answers = list(world.drivers[number])
        self._position, self._left = 0, 1

    def call(self, effect: Callable[[World], tuple[World, Any]]) -> Any:
        if self._position == len(self._answers):
            if not self._left:
                raise Paused
            self._left -= 1
            try:
                self.world, answer = effect(self.world)
                self._answers.append((True, answer))
            except (FencedError, KafkaException) as error:
                self._answers.append((False, error.__class__))
        good, answer = self._answers[self._position]
        self._position += 1
        if not good:
            raise answer("fenced") if answer is FencedError else KafkaException(KafkaError(*FENCED))
        return answer

    def live(self) -> World:
        ended = ""
        try:
            self._run()
            ended = "has done its work"
        except Paused:
            pass
        except FencedError as error:
            ended = type(error).__name__
        except Exception as error:
            ended = f"{type(error).__name__}: {error}"
        drivers, ends = list(self.world.drivers), list(self.world.ended)
        drivers[self._number], ends[self._number] = tuple(self._answers), ended
        return replace(self.world, drivers=tuple(drivers), ended=tuple(ends))

    def _run(self) -> None:
        version = self.call(lambda world: (replace(world, owner=self._number), world.version))
        sender = Sender({"bootstrap.servers": "none"}, "prefix", "job")
        sender.check = lambda: self.call(self._check)
        while True:
            if version:
                sender.send([self._files.paths[version]], version, self._files.before[version])
            if version == VERSIONS:
                return
            version = self.call(lambda world, of=version: (replace(self._check(world)[0], version=of + 1), of + 1))

    def _check(self, world: World) -> tuple[World, None]:
        if world.owner != self._number:
            raise FencedError("another driver has the folder")
        return world, None


def explore(world: World, files: Files, living: list[Life]) -> int:
    known, waiting = {world}, deque([world])
    while waiting:
        for after in _next(waiting.popleft(), files, living):
            if after not in known:
                _check(after)
                known.add(after)
                waiting.append(after)
    return len(known)


def _next(world: World, files: Files, living: list[Life]) -> list[World]:
    worlds = []
    for number, ended in enumerate(world.ended):
        if not ended:
            living[:] = [Life(world, number, files)]
            worlds.append(living[0].live())
    if world.strangers:
        worlds.append(replace(world, epoch=world.epoch + 1, strangers=world.strangers - 1))
    return worlds


def _check(world: World) -> None:
    expected = tuple(str(version).encode() for version in range(1, VERSIONS + 1))
    if world.sent != expected[: len(world.sent)] or len(world.sent) > world.version:
        raise Violation(f"{world.sent} were sent")
    for number, ended in enumerate(world.ended):
        if not ended:
            continue
        if ended == "has done its work" and world.sent != expected:
            raise Violation(f"driver {number} has ended, and {world.sent} were sent")
        if number == world.owner and ended != "has done its work":
            raise Violation(f"driver {number}, which has the folder, has ended: {ended}")


pytestmark = pytest.mark.slow


@pytest.fixture
def exploring(tmp_path, monkeypatch):
    living: list[Life] = []
    monkeypatch.setattr(transactions, "transactional", lambda *_: Producer(living[0]))
    monkeypatch.setattr(client, "create", lambda *_: Consumer(living[0]))
    monkeypatch.setattr(client, "offsets_of", lambda *_: Consumer(living[0]).ask)
    monkeypatch.setattr(client, "with_timeout", lambda call, *_: call())
    files = Files(tmp_path)

    def explored(drivers: int, **more: int) -> int:
        return explore(World(((),) * drivers, ("",) * drivers, **more), files, living)

    return explored


@pytest.mark.parametrize(("drivers", "strangers", "least"), [(2, 0, 500), (1, 3, 500), (2, 1, 5_000)])
def test_each_record_is_sent_once_and_the_rightful_driver_lives(exploring, drivers, strangers, least) -> None:
    assert exploring(drivers, strangers=strangers) >= least


def test_who_is_shut_out_again_and_again_ends(exploring) -> None:
    with pytest.raises(Violation, match="which has the folder, has ended: ShutOutError"):
        exploring(1, strangers=4)


def test_one_that_does_not_take_the_id_back_is_found_out(exploring, monkeypatch) -> None:
    monkeypatch.setattr(transactions, "_MOST_SHUT_OUT", 0)
    with pytest.raises(Violation, match="which has the folder, has ended: ShutOutError"):
        exploring(2)
