"""Properties of Kafka's Java clients as librdkafka's."""

from __future__ import annotations

import logging

import pytest

from penstock.connectors.kafka.client import kafka
from penstock.connectors.kafka.properties import seconds, settings
from penstock.errors import ConfigurationError, UnsupportedError

PLAIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="a\\"b" password=\'c;d\';'
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required password=p username=u;"


def test_what_is_taken_for_granted_is_as_in_java() -> None:
    consumer, producer = settings({}, "consumer"), settings({}, "producer")
    assert consumer["isolation.level"] == "read_uncommitted"
    assert consumer["enable.auto.commit"] is False
    assert producer["enable.idempotence"] is True
    assert producer["partitioner"] == "murmur2_random"


@pytest.mark.parametrize(
    ("client", "kafka_properties", "expected"),
    [
        ("consumer", {"group.id": "g", "isolation.level": "read_committed"}, None),
        ("consumer", {"fetch.max.wait.ms": "7"}, {"fetch.wait.max.ms": "7"}),
        ("consumer", {"request.timeout.ms": "9"}, {"socket.timeout.ms": "9"}),
        ("producer", {"request.timeout.ms": "9"}, None),
        ("producer", {"buffer.memory": "33554432"}, {"queue.buffering.max.kbytes": 32768}),
        ("producer", {"buffer.memory": "much"}, {"queue.buffering.max.kbytes": "much"}),
        ("producer", {"max.request.size": "100000"}, {"message.max.bytes": "100000"}),
        ("producer", {"linger.ms": "0", "compression.type": "lz4"}, None),
        ("consumer", {"client.id.prefix": "mine"}, {"client.id": "mine"}),
        ("consumer", {"ssl.endpoint.identification.algorithm": ""}, {"ssl.endpoint.identification.algorithm": "none"}),
        (
            "consumer",
            {"ssl.truststore.type": "PEM", "ssl.truststore.location": "ca.pem"},
            {"ssl.ca.location": "ca.pem"},
        ),
        ("consumer", {"sasl.jaas.config": PLAIN}, {"sasl.username": 'a"b', "sasl.password": "c;d"}),
        ("consumer", {"sasl.jaas.config": SCRAM}, {"sasl.username": "u", "sasl.password": "p"}),
    ],
)
def test_a_property_is_librdkafkas(client, kafka_properties, expected) -> None:
    properties = settings(kafka_properties, client)
    assert {**properties, **(kafka_properties if expected is None else expected)} == properties
    assert expected is None or kafka_properties.keys() & properties.keys() <= expected.keys()


@pytest.mark.parametrize(
    "key", ["key.deserializer", "max.poll.records", "auto.offset.reset", "partition.discovery.interval.ms"]
)
def test_what_is_of_java_alone_has_no_effect(key) -> None:
    assert settings({key: "x"}, "consumer") == settings({}, "consumer")


def test_idempotence_goes_with_acknowledgements() -> None:
    assert "enable.idempotence" not in settings({"acks": "1"}, "producer")
    assert settings({"enable.idempotence": "false"}, "producer")["enable.idempotence"] == "false"


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("interceptor.classes", "a.B", "a class of Java, which does not run here. Use map"),
        ("ssl.truststore.location", "a.jks", "a key store of Java's kind JKS"),
        ("ssl.keystore.location", "a.jks", "a key store of Java's kind JKS"),
        ("sasl.jaas.config", "com.sun.security.auth.module.Krb5LoginModule required;", "has no username"),
    ],
)
def test_what_only_java_can_do_is_refused(key, value, message) -> None:
    with pytest.raises(UnsupportedError, match=message):
        settings({key: value}, "consumer")


def test_how_long_to_wait() -> None:
    assert seconds({}, "consumer") == seconds({}, "producer") == 30
    assert seconds({"default.api.timeout.ms": "1500", "max.block.ms": "200"}, "consumer") == 1.5
    assert seconds({"default.api.timeout.ms": "1500", "max.block.ms": "200"}, "producer") == 0.2
    with pytest.raises(ConfigurationError, match=r"'max\.block\.ms' is '-1'"):
        seconds({"max.block.ms": "-1"}, "producer")


def test_the_client_takes_what_is_taken_for_granted() -> None:
    kafka().Consumer({**settings({"bootstrap.servers": "127.0.0.1:1"}, "consumer"), "log_level": 0}).close()
    kafka().Producer({**settings({"bootstrap.servers": "127.0.0.1:1"}, "producer"), "log_level": 0})


SHARED = {
    "group.id": "g",
    "enable.auto.commit": "false",
    "isolation.level": "read_committed",
    "fetch.max.wait.ms": "7",
    "session.timeout.ms": "45000",
    "acks": "all",
    "linger.ms": "7",
    "compression.type": "lz4",
    "transaction.timeout.ms": "60000",
    "batch.size": "1000",
    "client.rack": "r",
}
"""Properties that a program gives to both clients."""


@pytest.mark.parametrize("client", ["consumer", "producer"])
def test_properties_of_the_other_client_are_passed_over_in_silence(client, caplog) -> None:
    module = pytest.importorskip("confluent_kafka")
    properties = settings({**SHARED, "bootstrap.servers": "127.0.0.1:1"}, client)
    names = ("group.id", "isolation.level") if client == "consumer" else ("linger.ms", "compression.type")
    assert all(properties[key] == SHARED[key] for key in names)
    with caplog.at_level(logging.DEBUG):
        handle = (module.Consumer if client == "consumer" else module.Producer)(
            properties, logger=logging.getLogger("k")
        )
        handle.poll(0.05)
        del handle
    assert [record.getMessage() for record in caplog.records if "CONFWARN" in record.getMessage()] == []
