"""An endless program from Kafka to Kafka: ``python -m tests.kafka.counting JSON POINT COUNT [LEASE]``."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from tests.chaos.job import short_lease
from tests.kafka.points import Step, at, die, pause, stepping, watch_sending
from tests.kafka.topics import NONE, Topics

POINTS = (
    ("planned", 2), ("packed", 1), ("packed", 3), ("together", 2), ("manifest", 1), ("manifest", 3), ("manifested", 2),
    ("init_transactions", 2), ("begin_transaction", 1), ("produce", 7), ("send_offsets_to_transaction", 2),
    ("commit_transaction", 1), ("committed", 2), ("published", 2), ("told", 1),
)  # fmt: skip
"""Before a step, while tasks write, around the manifest, while records are sent, and behind that."""


@dataclass
class Counting:
    servers: str
    sources: list[list[str]]
    target: str
    folder: str
    executor: str = "local"
    records: int = 5
    parallelism: int = 2
    available_now: bool = True
    pattern: str = ""
    bounded: str = ""
    discovery: str = "1"
    restarts: int = 0
    seconds: float = 0.0
    also: str = ""
    interval: int = 0

    def environment(self, executor: Any = None) -> Any:
        from penstock.common import Configuration, Types
        from penstock.datastream import StreamExecutionEnvironment
        from penstock.datastream.connectors import DeliveryGuarantee

        settings = {
            "execution.checkpointing.dir": self.folder,
            "penstock.step.records": str(self.records),
            "penstock.step.available-now": str(self.available_now).lower(),
        }
        if self.interval:
            settings["execution.checkpointing.interval"] = f"{self.interval} ms"
        if self.restarts:
            settings |= {
                "restart-strategy.type": "fixed-delay",
                "restart-strategy.fixed-delay.attempts": str(self.restarts),
                "restart-strategy.fixed-delay.delay": "100 ms",
            }
        configuration = Configuration.from_dict(settings)
        env = StreamExecutionEnvironment.get_execution_environment(configuration, executor=executor or self.executor)
        env.set_parallelism(self.parallelism)
        streams = [env.from_source(source, NONE, f"in-{n}").uid(f"in-{n}") for n, source in enumerate(self.read())]
        stream = streams[0] if len(streams) == 1 else streams[0].union(*streams[1:])
        pairs = stream.map(lambda value: (value, 1), Types.TUPLE([Types.STRING(), Types.LONG()]))
        sums = pairs.key_by(lambda pair: pair[0], Types.STRING()).sum(1).uid("sums")
        sink = Topics(self.servers).sink(self.target, DeliveryGuarantee.EXACTLY_ONCE)
        sink.set_transactional_id_prefix(self.target).set_property("penstock.folder", f"{self.folder}-kafka")
        sink.set_property("transaction.timeout.ms", "60000")
        if self.seconds:
            sink.set_property("max.block.ms", f"{self.seconds * 1000:.0f}")
        numbers = sums.map(lambda pair: f"{pair[0]} {pair[1]}", Types.STRING())
        numbers.sink_to(sink.build()).uid("out")
        if self.also:
            numbers.sink_to(Topics(self.servers).sink(self.also).build()).uid("also")
        return env

    def read(self) -> list[Any]:
        sources: list[Any] = []
        for names in self.sources:
            builder = self._begun().set_topics(*names).set_group_id(f"{self.target}-group")
            sources.append(builder.build())
        if self.pattern:
            sources.append(self._begun().set_topic_pattern(self.pattern).build())
        if self.bounded:
            sources.append(Topics(self.servers).source(self.bounded).build())
        return sources

    def _begun(self) -> Any:
        from penstock.common.serialization import SimpleStringSchema
        from penstock.datastream.connectors import KafkaSource

        builder = KafkaSource.builder().set_bootstrap_servers(self.servers)
        builder.set_property("partition.discovery.interval.ms", self.discovery)
        if self.seconds:
            builder.set_property("default.api.timeout.ms", f"{self.seconds * 1000:.0f}")
        return builder.set_value_only_deserializer(SimpleStringSchema())

    def run(self, executor: Any = None) -> None:
        self.environment(executor).execute("counting")

    def text(self) -> str:
        return json.dumps(asdict(self))


def numbered(values: Iterable[str]) -> list[str]:
    """What the program makes of values, sorted."""
    return sorted(f"{key} {n}" for key, count in Counter(values).items() for n in range(1, count + 1))


def _watch(step: Step) -> None:
    from penstock.connectors.kafka import split_source
    from penstock.job.steps import commits, loop

    watch_sending(step)
    loop.StepLoop._planned = stepping(step, loop.StepLoop._planned, after="planned")  # type: ignore[method-assign]
    steps, tracker = commits.Commits, split_source.PartitionTracker
    steps.put_together = stepping(step, steps.put_together, after="together")  # type: ignore[method-assign]
    steps.commit = stepping(step, steps.commit, "manifest", "manifested")  # type: ignore[method-assign]
    steps.publish = stepping(step, steps.publish, after="published")  # type: ignore[method-assign]
    tracker.committed = stepping(step, tracker.committed, after="told")  # type: ignore[method-assign]


def main(program: str, point: str, count: str, lease: str = "") -> None:
    if lease:
        short_lease(float(lease))
    _watch(at(point, int(count), pause if lease else die))
    Counting(**json.loads(program)).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
