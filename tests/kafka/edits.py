"""Random programs that read topics, edited between runs: ``python -m tests.kafka.edits 0 300``."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from penstock.common.serialization import DeserializationSchema
from penstock.datastream.connectors import KafkaOffsetsInitializer, KafkaSource
from penstock.job.folder.lease import JobFolder
from tests.datastream import feeding
from tests.datastream.random_edits import PER_RUN, check
from tests.generator.operators import INT
from tests.generator.programs import Node, data
from tests.kafka.broker import running
from tests.kafka.topics import NONE, Topics

FIRST, LATER = 3, 4
"""Partitions of a topic in the first run of a program, and after that."""


class Numbers(DeserializationSchema[int]):
    def deserialize(self, message: bytes, /) -> int:
        return int(message)

    def get_produced_type(self) -> Any:
        return INT


class TopicFeed:
    """Sources of a program: each a topic, with the records that its number says."""

    def __init__(self, topics: Topics, prefix: str) -> None:
        self._topics, self._prefix = topics, prefix
        self._counts: dict[int, list[int]] = {}

    first = FIRST

    def splits(self, available: int, ends: bool) -> int:
        return FIRST if available <= PER_RUN[1 if ends else 0] else LATER

    def source(self, node: Node, env: Any, ends: bool) -> Any:
        builder = KafkaSource.builder().set_bootstrap_servers(self._topics.servers).set_topics(self._name(node.amount))
        builder.set_property("partition.discovery.interval.ms", "1").set_property(
            "fetch.max.wait.ms", "10"
        ).set_value_only_deserializer(Numbers())
        if ends:
            builder.set_bounded(KafkaOffsetsInitializer.latest())
        return env.from_source(builder.build(), NONE, node.label, INT)

    def fill(self, numbers: Sequence[int], available: int, ends: bool) -> None:
        """Have topics hold what there is by now."""
        wanted = self.splits(available, ends)
        for number in dict.fromkeys(numbers):
            have = self._counts.get(number)
            if have is None:
                self._topics.make(self._name(number), wanted)
                have = self._counts[number] = [0] * wanted
            if len(have) < wanted:
                self._topics.grow(self._name(number), wanted)
                have += [0] * (wanted - len(have))
            more = [
                {"value": str(value), "partition": partition}
                for partition, begin in enumerate(have)
                for value in data(number, partition, available)[begin:]
            ]
            if more:
                self._topics.fill(self._name(number), more)
            self._counts[number] = [available] * len(have)

    def ends(self, number: int) -> list[int]:
        """How many records each partition of a topic has."""
        return self._counts[number]

    def check(self, folder: str) -> None:
        """See that the newest version of a job has read all there is, and says so by partition."""
        newest = JobFolder(folder).newest(unpickle=False)
        assert newest is not None
        for source in newest.sources.values():
            for name, (_, offset) in source.positions.items():
                _, number, partition = name.rsplit("-", 2)
                assert offset == self._counts[int(number)][int(partition)], (name, offset)

    def _name(self, number: int) -> str:
        return f"{self._prefix}-{number}"


def main(first: int, last: int) -> int:
    seen, failed = Counter[str](), 0
    with tempfile.TemporaryDirectory() as data_folder, running(Path(data_folder)) as broker:
        topics = Topics(broker.servers)
        for seed in range(first, last):
            with feeding.folder() as root:
                try:
                    seen += check(seed, root, feed=TopicFeed(topics, f"edits-{seed}"))
                except Exception as error:
                    failed += 1
                    print(f"seed {seed}: {type(error).__name__}: {error}"[:500])
    print(f"{failed} of {last - first} failed; {dict(seen)}")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
