"""Programs that never end on Bytewax, with recovery."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, BinaryIO

from live import SumSink, keyed, written

Job = Callable[[Any, str], None]
READ, WAIT = 1_000, timedelta(milliseconds=50)


def sums(epoch: float = 1.0) -> Job:
    """Running sums of a folder's files, with one worker, which takes least CPU time; ``epoch`` seconds between
    snapshots."""
    import bytewax.operators as op
    from bytewax.dataflow import Dataflow

    def job(inbox: str, out: str) -> None:
        flow = Dataflow("sums")
        lines = op.input("lines", flow, _folder(inbox))
        totals = op.stateful_map("sum", op.map("keyed", lines, keyed), add)
        op.output("sink", totals, _sinks(out))
        _run(flow, epoch)

    return job


class Lines:
    """The files of one reader; its state is how many it has read, and where it is in the next."""

    def __init__(self, inbox: str, part: str, position: tuple[int, int] | None) -> None:
        self.inbox, self.part = Path(inbox), part
        self.done, offset = position or (0, 0)
        self.file: BinaryIO | None = None
        self.wait = False
        self._next(offset)

    def _next(self, offset: int = 0) -> None:
        names = sorted(self.inbox.glob(f"*-{self.part}"))
        if len(names) > self.done:
            self.file = names[self.done].open("rb")
            self.file.seek(offset)

    def next_batch(self) -> list[str]:
        if self.file is None:
            self._next()
        lines = self.file.readlines(READ * 10) if self.file else []
        if self.file and not lines:
            self.file.close()
            self.file, self.done = None, self.done + 1
        self.wait = not lines
        return [line.rstrip().decode() for line in lines]

    def next_awake(self) -> datetime | None:
        return datetime.now(timezone.utc) + WAIT if self.wait else None

    def snapshot(self) -> tuple[int, int]:
        return self.done, self.file.tell() if self.file else 0


def _folder(inbox: str) -> Any:
    """The files of a folder, as they come, by two readers."""
    from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition

    class Files(Lines, StatefulSourcePartition):
        pass

    class Folder(FixedPartitionedSource):
        def list_parts(self) -> list[str]:
            return ["0", "1"]

        def build_part(self, step_id: str, for_part: str, resume_state: Any) -> Files:
            return Files(inbox, for_part, resume_state)

    return Folder()


def _sinks(folder: str) -> Any:
    """Sinks that tell in a folder how far they are."""
    from bytewax.outputs import DynamicSink, StatelessSinkPartition

    class Partition(StatelessSinkPartition):
        def __init__(self) -> None:
            self.sink = SumSink(folder)

        def write_batch(self, items: list[Any]) -> None:
            invoke = self.sink.invoke
            for item in items:
                invoke(item)
            self.sink.flush()

    class Sinks(DynamicSink):
        def build(self, step_id: str, worker_index: int, worker_count: int) -> Partition:
            return Partition()

    return Sinks()


def kafka_sums(epoch: float = 1.0, batch_size: int = 1_000) -> Job:
    """Running sums of one topic's lines into another topic, with Bytewax's connectors."""
    import bytewax.operators as op
    from bytewax.connectors.kafka import KafkaSinkMessage
    from bytewax.connectors.kafka import operators as kop
    from bytewax.dataflow import Dataflow

    def read(message: Any) -> Any:
        return keyed(message.value.decode())

    def message_of(pair: Any) -> Any:
        return KafkaSinkMessage(None, written(pair).encode())

    def job(topics: dict[str, str], out: str) -> None:
        flow = Dataflow("sums")
        brokers = [topics["address"]]
        lines = kop.input(
            "lines", flow, brokers=brokers, topics=[topics["source"]], batch_size=batch_size,
            add_config={"fetch.wait.max.ms": "20"},
        )  # fmt: skip
        totals = op.stateful_map("sum", op.map("read", lines.oks, read), add)
        kop.output("sink", op.map("written", totals, message_of), brokers=brokers, topic=topics["target"])
        _run(flow, epoch)

    return job


def add(total: int | None, number: int) -> tuple[int, int]:
    """The next sum, as state and as output."""
    total = (total or 0) + number
    return total, total


def _run(flow: Any, epoch: float) -> None:
    from bytewax.recovery import RecoveryConfig, init_db_dir
    from bytewax.run import cli_main

    with tempfile.TemporaryDirectory() as folder:
        init_db_dir(Path(folder), 1)
        cli_main(flow, epoch_interval=timedelta(seconds=epoch), recovery_config=RecoveryConfig(Path(folder)))
