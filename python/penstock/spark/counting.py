"""What tasks of Spark have counted, as soon as each has ended: by an accumulator, which Spark brings to the driver
beside the rows. It is for whoever looks at the job while it runs; what counts in the end are the reports among the
rows, of exactly the attempts whose rows were used. Workers load this too.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from pyspark.accumulators import Accumulator

    from penstock.job.steps.progress import Progress

Counted = tuple[str, int, int, tuple[Any, ...]]
"""Job, vertex, subtask, counters by operator."""

_lock = threading.Lock()
_accumulators: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # by SparkContext: it never forgets one
_jobs: dict[str, Progress] = {}


@contextlib.contextmanager
def counting(session: Any, progress: Progress) -> Iterator[Accumulator[list[Counted]] | None]:
    """Within the block, what is added to the accumulator in tasks is told to ``progress``. Gives the accumulator; None
    over Spark Connect, which has none.

    Args:
        session: the job's session.
        progress: of the job.
    """
    try:
        spark = session.sparkContext
    except Exception:  # Spark Connect has no SparkContext
        yield None
        return
    _jobs[progress.job_id] = progress
    try:
        with _lock:
            if spark not in _accumulators:
                _accumulators[spark] = spark.accumulator([], Tellers())
        yield _accumulators[spark]
    finally:
        del _jobs[progress.job_id]


class Tellers:
    """Lists that are joined in tasks, and told on the driver. As pyspark's ``AccumulatorParam``, which is only an
    interface; the names are its own."""

    def zero(self, value: list[Counted]) -> list[Counted]:
        """Nothing."""
        return []

    def addInPlace(self, value1: list[Counted], value2: list[Counted]) -> list[Counted]:
        """Join two lists; what is told on the driver is not kept."""
        for counted in value2:
            job, vertex, subtask, counters = counted
            if job not in _jobs:  # in a task, or too late
                value1.append(counted)
            else:
                with contextlib.suppress(Exception):  # an error would end what serves all accumulators
                    _jobs[job].sample(vertex, subtask, counters)
        return value1
