"""Topics of Kafka as the way in and out of a program that never ends."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from live import MASK

PARTITIONS = 2
PATIENCE = 60
"""Seconds in which all that was written can be read again."""


class Topics:
    """Lines are written to one topic, the one after the other to its partitions; the job writes to another."""

    def __init__(self, address: str) -> None:
        self.address = address
        name = uuid.uuid4().hex[:8]
        self.names = f"in-{name}", f"out-{name}"
        self.admin = AdminClient({"bootstrap.servers": address})
        futures = self.admin.create_topics([NewTopic(topic, PARTITIONS, 1) for topic in self.names])
        for future in futures.values():
            future.result()
        self.producer = Producer({"bootstrap.servers": address, "linger.ms": 20, "acks": 1})
        self.reader = self._consumer()
        self.seen, self.ends = (0, 0), PARTITIONS * [0]

    def inlet(self) -> dict[str, Any]:
        return {"address": self.address, "source": self.names[0], "target": self.names[1]}

    def feed(self, batch: Sequence[str]) -> None:
        for partition, path in enumerate(batch):
            for line in Path(path).read_bytes().splitlines():
                while True:
                    try:
                        self.producer.produce(self.names[0], line, partition=partition)
                        break
                    except BufferError:
                        self.producer.poll(0.05)
        self.producer.flush()

    def fed(self, expected: int) -> None:
        """Nothing is left to do."""

    def count(self) -> int:
        """Offsets, of which the markers of transactions take some too."""
        ends = [self.reader.get_watermark_offsets(part, timeout=10) for part in self._partitions()]
        return sum(high for _, high in ends)

    def result(self) -> tuple[int, int]:
        count, total = self.seen
        wanted = [self.reader.get_watermark_offsets(part, timeout=10)[1] for part in self._partitions()]
        until = time.monotonic() + PATIENCE
        while any(end < last for end, last in zip(self.ends, wanted, strict=True)):
            if time.monotonic() > until:
                raise SystemExit(f"{self.names[1]} was read to {self.ends} of {wanted} only, in {PATIENCE} s")
            for message in self.reader.consume(10_000, timeout=0.2):
                if not message.error():
                    count += 1
                    total += hash(message.value().decode())
                elif message.error().code() == KafkaError._PARTITION_EOF:
                    self.ends[message.partition()] = message.offset()
                else:
                    raise SystemExit(f"reading {self.names[1]}: {message.error()}")
        self.seen = count, total & MASK
        return self.seen

    def _consumer(self) -> Consumer:
        consumer = Consumer(
            {
                "bootstrap.servers": self.address, "group.id": uuid.uuid4().hex, "isolation.level": "read_committed",
                "enable.auto.commit": False, "enable.partition.eof": True, "fetch.wait.max.ms": 20,
            }
        )  # fmt: skip
        consumer.assign(self._partitions())
        return consumer

    def _partitions(self) -> list[TopicPartition]:
        return [TopicPartition(self.names[1], partition, 0) for partition in range(PARTITIONS)]
