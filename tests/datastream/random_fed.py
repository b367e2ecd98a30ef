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
from tests.datastream.feeding import fed, sizes
from tests.datastream.random_jobs import Job, build, environment_of, expected, random_job
from tests.datastream.run_exactly_once import Exact, ExactNotes
from tests.job.commit.crashes import Fuse, before_each_change, dies_at, refuse
from tests.matrix.knobs import Setting, everything


@dataclass(frozen=True)
class End:
    """How a run ends before it should.

    Attributes:
        change: how many changes of the file system it makes before.
        killed: whether its process is killed; else the file system refuses the change, and those who meant it see that.
    """

    change: int
    killed: bool


class Shown(Exact):
    """Keeps records with their times, once their step counts."""

    def write(self, value: Any) -> None:
        self.values.append(list(value))


class FedJob:
    """A random program in a folder of its own.

    Args:
        job: the program.
        setting: of the matrix.
        feed: how much a step reads.
        root: the folder.
        lives: how many processes have run it before.
    """

    def __init__(self, job: Job, setting: Setting, feed: str, root: str, lives: int = 0) -> None:
        self._job, self._setting, self._feed, self._root = job, setting, feed, root
        self._lives = lives
        self._bags, self._steps = expected(job)
        self._inputs = os.path.join(root, "files")
        os.makedirs(self._inputs, exist_ok=True)
        self._notes = ExactNotes(root)
        self.result: Any = None

    def live(self, executor: Any = None) -> None:
        """Run it from where it is to its end."""
        environment = environment_of(
            self._setting, executor or LocalExecutor(), penstock_job_folder=os.path.join(self._root, "job")
        )
        self._shown = build(self._job, self._steps, environment, self._inputs, self._show)
        with fed(sizes(self._feed, self._lives)):
            self.result = environment.execute()

    def _show(self, number: int, seen: Any) -> None:
        seen.sink_to(Shown(self._notes, str(number))).name(f"sink {number}").set_parallelism(1)

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
        found: dict[int, Counter[Any]] = {number: Counter() for number in self._shown}
        for _, _, sink, _, records in self._notes.committed():
            found[int(sink)].update(map(tuple, records))
        assert found == {number: self._bags[number] for number in self._shown}
        for number in self._shown:
            counted, total = self.result.metrics[f"see {number}"], self._bags[number].total()
            assert (counted.records_in, counted.records_out) == (total, total)
        left = [path.name for path in Path(self._root).rglob(".*") if path.is_file()]
        assert not left
        return sum(self._bags[number].total() for number in self._shown)


def result_of_seed(seed: int, feed: str, root: str, executor: Any, life: int = 0) -> dict[str, Any]:
    """Run the random program of a seed, with a setting by chance, and compare; for ``run_scripts.py``.

    Args:
        seed, feed, root: which, how much it reads in a step, and where.
        executor: runs it.
        life: how many processes have run it before.

    Raises:
        AssertionError: it gives something else than a plain computation.
    """
    setting = random.Random(seed).choice(list(everything()))
    job = FedJob(random_job(seed), setting, feed, root, life)
    job.live(executor)
    return {"equal": job.check()}


@contextlib.contextmanager
def _refused(change: int) -> Iterator[Fuse]:
    fuse = Fuse(change, refuse)
    with before_each_change(fuse):
        yield fuse


def check(job: Job, setting: Setting, feed: str, ends: Sequence[End], root: str, executor: Any = None) -> int:
    """Run a random program in steps, end it some times, and compare what it has given.

    Args:
        job, setting, feed, root: as for :class:`FedJob`.
        ends: of runs, one after the other; one with another executor than the local one cannot be killed.
        executor: the local one unless given.

    Returns:
        How often it was ended.
    """
    fed_job, ended = FedJob(job, setting, feed, root), 0
    for how in ends:
        if not fed_job.end(how, executor):
            break
        ended += 1
    fed_job.live(executor)
    fed_job.check()
    return ended
