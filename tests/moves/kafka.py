"""Jobs of Flink that read Kafka, stopped half-way: ``python -m tests.moves.kafka`` records them anew.

Needs Java and Maven; a broker of the tests' own runs beside Flink.
"""

from __future__ import annotations

import json
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from benches import flink_peer

from tests.moves.golden import FOLDER, RELEASES
from tests.moves.packing import pack

TOPIC, PARTITIONS, LINES = "numbers", 3, "kafka.json"
KEYS = tuple(f"k{index}" for index in range(9))


def messages(half: int) -> list[tuple[int, str]]:
    """Partitions and texts of a half: a key is always in the same partition, so that its sums are in order."""
    numbers = range(half * 60, half * 60 + 60)
    return [(number % len(KEYS) % PARTITIONS, f"{KEYS[number % len(KEYS)]},{number * 7 % 100}") for number in numbers]


def main() -> None:
    """Run the job with all versions of Flink."""
    from confluent_kafka import Producer
    from confluent_kafka.admin import AdminClient, NewTopic

    from tests.kafka.broker import running

    lines: list[dict[str, Any]] = []
    for release, version in RELEASES.items():
        with tempfile.TemporaryDirectory() as place, running(Path(place)) as broker:
            topic = NewTopic(TOPIC, PARTITIONS, 1)
            admin = AdminClient({"bootstrap.servers": broker.servers})
            admin.create_topics([topic])[TOPIC].result()
            record = partial(_record, version, broker.servers, Path(place))
            outputs: list[Any] = []
            for half in (0, 1):
                producer = Producer({"bootstrap.servers": broker.servers})
                for partition, text in messages(half):
                    producer.produce(TOPIC, text.encode(), partition=partition)
                producer.flush()
                outputs.append(record(half, len(messages(half))))
            lines.append({"flink": release, "before": outputs[0], "after": outputs[1]})
            pack({"kafka_sums": Path(place) / "0"}, FOLDER / f"kafka-{release}.tar.xz")
    (FOLDER / LINES).write_text(json.dumps(lines, indent=1) + "\n")


def _record(version: str, servers: str, place: Path, half: int, count: int) -> Any:
    old = [str(place / "0")] if half else []
    arguments = servers, TOPIC, str(count), str(place / f"{half}"), *old
    (line,) = flink_peer.printed(version, "penstock.moves.KafkaRecorder", *arguments)
    return json.loads(line)


if __name__ == "__main__":
    main()
