"""Word count with running sums, on Bytewax."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from functions import PairSink, pair, split


def word_count(workers: int = 2) -> Callable[[str, str], Any]:
    """The job: a dataflow run by ``bytewax.run``, with that many workers in this process."""
    import bytewax.operators as op
    from bytewax.connectors.files import DirSource
    from bytewax.dataflow import Dataflow
    from bytewax.outputs import DynamicSink, StatelessSinkPartition
    from bytewax.run import cli_main

    class Partition(StatelessSinkPartition):
        def __init__(self, folder: str) -> None:
            self.sink = PairSink(folder)

        def write_batch(self, items: list[Any]) -> None:
            invoke = self.sink.invoke
            for item in items:
                invoke(item)

        def close(self) -> None:
            self.sink.close()

    class Sinks(DynamicSink):
        def __init__(self, folder: str) -> None:
            self.folder = folder

        def build(self, step_id: str, worker_index: int, worker_count: int) -> Partition:
            return Partition(self.folder)

    def job(data: str, folder: str) -> None:
        flow = Dataflow("word_count")
        lines = op.input("lines", flow, DirSource(Path(data), batch_size=1000))
        words = op.flat_map("split", lines, split)
        pairs = op.map("pair", words, pair)
        sums = op.stateful_map("sum", pairs, add)
        op.output("sink", sums, Sinks(folder))
        cli_main(flow, workers_per_process=workers)

    return job


def add(total: int | None, number: int) -> tuple[int, int]:
    """The next sum, as state and as output."""
    total = (total or 0) + number
    return total, total
