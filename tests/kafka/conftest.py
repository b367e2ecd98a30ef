"""A cluster of librdkafka's own for the quick tests, and a broker for those with the mark ``spark``, as it is a JVM."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kafka.broker import running
from tests.kafka.lives import Lives
from tests.kafka.topics import Topics


@pytest.fixture(scope="session")
def mock_cluster() -> Topics:
    """Inside this process, up in milliseconds. Topics are there as soon as they are named, with four partitions."""
    from confluent_kafka import Producer

    cluster = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "none", "log_level": 0})
    brokers = cluster.list_topics(timeout=120).brokers.values()
    return Topics(",".join(f"{broker.host}:{broker.port}" for broker in brokers), cluster)


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Topics]:
    """A real one, which tests may restart."""
    try:
        with running(tmp_path_factory.mktemp("kafka")) as process:
            yield Topics(process.servers, process)
    except LookupError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def lives(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lives]:
    """Where drivers are begun that are to die."""
    begun = Lives(tmp_path_factory.mktemp("lives") / "log")
    yield begun
    begun.close()
