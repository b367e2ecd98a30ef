"""Random programs that run in steps of random sizes, and die on the way: the records are those of the plain ones."""

from __future__ import annotations

import contextlib
import os
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.errors import PenstockError
from penstock.local import LocalExecutor
from tests.datastream.feeding import fed, interval_settings, native_settings, sizes
from tests.datastream.run_exactly_once import Exact, ExactNotes
from tests.generator.bounded import built, expected, random_job, seen
from tests.generator.programs import Program
from tests.job.commit.crashes import Fuse, before_each_change, dies_at, refuse
from tests.matrix.knobs import Setting, everything


@dataclass(frozen=True)
class End:
    """How a run ends before it should."""

    change: int
    killed: bool


class Shown(Exact):
    """Keeps records with their times, once their step counts."""

    def write(self, value: Any) -> None:
        self.values.append(list(value))


class FedJob:
    """A random program in a folder of its own."""

    def __init__(
        self, job: Program, setting: Setting, feed: str, root: str, lives: int = 0, interval: int | None = None
    ) -> None:
        self._setting, self._feed, self._root = setting, feed, root
        self._interval = interval
        self._lives = lives
        bags, self._job = expected(job)
        self._bags = {number: bags[label] for number, label in seen(self._job).items()}
        self._inputs = os.path.join(root, "files")
        os.makedirs(self._inputs, exist_ok=True)
        self._notes = ExactNotes(root)
        self.result: Any = None

    def live(self, executor: Any = None) -> None:
        """Run it from where it is to its end."""
        settings = {"execution.checkpointing.dir": os.path.join(self._root, "job"), **interval_settings(self._interval)}
        environment = built(self._job, self._setting, executor or LocalExecutor(), self._inputs, self._show, **settings)
        with fed(sizes(self._feed, self._lives)):
            self.result = environment.execute()

    def _show(self, number: int, stream: Any) -> Any:
        return stream.sink_to(Shown(self._notes, str(number))).set_parallelism(1)

    def end(self, how: End, executor: Any = None) -> bool:
        """Run it, and end it; whether it has not come to its own end before."""
        self._lives += 1
        if how.killed:
            return dies_at(how.change, self.live)
        with _refused(how.change) as refused, contextlib.suppress(PenstockError, OSError):
            self.live(executor)
            return False
        assert refused.seen, "it has failed, and nothing was refused"
        return True

    def check(self) -> int:
        """It has come to its end: all records are there once, and all were counted. How many."""
        bags: dict[int, Counter[Any]] = {number: Counter() for number in self._bags}
        for _, _, sink, _, records in self._notes.committed():
            bags[int(sink)].update(map(tuple, records))
        assert bags == self._bags
        for number, bag in self._bags.items():
            counted, total = self.result.metrics[f"see {number}"], bag.total()
            assert (counted.records_in, counted.records_out) == (total, total)
        left = [path.name for path in Path(self._root).rglob(".*") if path.is_file()]
        assert not left
        return sum(bag.total() for bag in self._bags.values())


def result_of_seed(
    seed: int,
    feed: str,
    root: str,
    executor: Any,
    life: int = 0,
    interval: int | None = None,
    native: str | None = None,
) -> dict[str, Any]:
    """Run the random program of a seed, with a setting by chance, and compare; for ``run_scripts.py``."""
    setting = {**random.Random(seed).choice(list(everything())), **native_settings(native)}
    job = FedJob(random_job(seed), setting, feed, root, life, interval)
    job.live(executor)
    return {"equal": job.check()}


@contextlib.contextmanager
def _refused(change: int) -> Iterator[Fuse]:
    fuse = Fuse(change, refuse)
    with before_each_change(fuse):
        yield fuse


def check(
    job: Program,
    setting: Setting,
    feed: str,
    ends: Sequence[End],
    root: str,
    executor: Any = None,
    interval: int | None = None,
) -> int:
    """Run a random program in steps, end it some times, and compare what it has given."""
    fed_job, ended = FedJob(job, setting, feed, root, interval=interval), 0
    for how in ends:
        if not fed_job.end(how, executor):
            break
        ended += 1
    fed_job.live(executor)
    fed_job.check()
    return ended
