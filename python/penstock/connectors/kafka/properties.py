"""Translates properties of Kafka's Java clients into settings of librdkafka. Source of names: Kafka 4.0's
configuration, librdkafka's CONFIGURATION.md, ``KafkaSourceOptions`` (Flink's Kafka connector 3.3)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from penstock.errors import ConfigurationError, UnsupportedError

Settings = dict[str, "str | int | bool"]

WAIT = {"consumer": "default.api.timeout.ms", "producer": "max.block.ms"}
"""The property for how long to wait for the brokers, by kind of client."""
_SECONDS = 30.0

_RENAMED = {
    "buffer.memory": "queue.buffering.max.kbytes",
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "max.request.size": "message.max.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "send.buffer.bytes": "socket.send.buffer.bytes",
}
_WITHOUT_EFFECT = """
    allow.auto.create.topics auto.commit.enable auto.include.jmx.reporter auto.offset.reset client.id.prefix
    commit.offsets.on.checkpoint default.api.timeout.ms exclude.internal.topics flink.disable-metrics
    flink.partition-discovery.interval-millis flink.poll-timeout key.deserializer key.serializer max.block.ms
    max.poll.records metric.reporters metrics.num.samples metrics.recording.level metrics.sample.window.ms
    partition.assignment.strategy partition.discovery.interval.ms penstock.folder penstock.marker.lost
    register.consumer.metrics transactional.id value.deserializer value.serializer zookeeper.connect
    """
"""Properties that do not change results: they exist only in the Java client, or are set elsewhere. Offsets are looked
up, and partitions dealt out, on the driver."""
_ONE_CLIENTS = {
    "consumer": """
    auto.commit.interval.ms check.crcs consume.callback.max.messages coordinator.query.interval.ms
    enable.auto.commit enable.auto.offset.store enable.partition.eof fetch.error.backoff.ms fetch.max.bytes
    fetch.max.wait.ms fetch.message.max.bytes fetch.min.bytes fetch.queue.backoff.ms fetch.wait.max.ms group.id
    group.instance.id group.protocol group.protocol.type group.remote.assignor heartbeat.interval.ms
    isolation.level max.partition.fetch.bytes max.poll.interval.ms offset.store.method queued.max.messages.kbytes
    queued.min.messages session.timeout.ms
    """,
    "producer": """
    acks batch.num.messages batch.size buffer.memory compression.codec compression.level compression.type
    delivery.report.only.error delivery.timeout.ms enable.gapless.guarantee enable.idempotence linger.ms
    message.send.max.retries message.timeout.ms partitioner produce.offset.report
    queue.buffering.backpressure.threshold queue.buffering.max.kbytes queue.buffering.max.messages
    queue.buffering.max.ms queuing.strategy request.required.acks retries sticky.partitioning.linger.ms
    transaction.timeout.ms
    """,
}
"""Properties of one kind of client. Programs pass one dict to both, as Java's clients ignore the other's; librdkafka
warns about each of them."""
_OTHERS = {"consumer": _ONE_CLIENTS["producer"], "producer": _ONE_CLIENTS["consumer"]}
_REFUSED = {
    "interceptor.classes": "map() before the sink, or behind the source",
    "partitioner.class": "set_partitioner() of the KafkaRecordSerializationSchemaBuilder",
    "sasl.login.callback.handler.class": "'sasl.oauthbearer.method': 'oidc' and other 'sasl.…' of librdkafka",
}
"""Java classes, and the replacement for each."""
_DEFAULTS: dict[str, Settings] = {
    "consumer": {
        "allow.auto.create.topics": False,
        "auto.offset.reset": "error",
        "enable.auto.commit": False,
        "fetch.queue.backoff.ms": 20,  # librdkafka's own default of a second lets a reader wait for a full queue
        "fetch.wait.max.ms": 5,  # how long a seek has to wait, at most
        "group.id": "penstock",  # it must have one; nothing is committed unless the program says so
        "isolation.level": "read_uncommitted",  # Kafka's own default, not librdkafka's
        "queued.max.messages.kbytes": 16_384,
        "reconnect.backoff.max.ms": 1_000,  # as in Java, not ten seconds: a restarted broker is found soon
    },
    "producer": {
        "linger.ms": 5,
        "partitioner": "murmur2_random",  # the partition of a key is that of the Java client
        "queue.buffering.max.kbytes": 32_768,
        "reconnect.backoff.max.ms": 1_000,
    },
}
_LOGIN = re.compile(r"(username|password)\s*=\s*(\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^\s;]+)")


def servers(properties: Mapping[str, str]) -> str:
    """The bootstrap servers, for messages."""
    return properties.get("bootstrap.servers", "")


def seconds(properties: Mapping[str, str], client: str) -> float:
    """How long to wait for an answer of the brokers."""
    text = properties.get(WAIT[client])
    if text is None:
        return _SECONDS
    if not text.strip().isdigit() or int(text) < 1:
        raise ConfigurationError(
            f"Kafka's property {WAIT[client]!r} is {text!r}; it takes milliseconds, at least 1. Give '30000', say."
        )
    return int(text) / 1000


def settings(properties: Mapping[str, str], client: str) -> Settings:
    """The settings of librdkafka for a kind of client."""
    translated: Settings = {}
    for key, value in properties.items():
        if key in _REFUSED:
            raise UnsupportedError(
                f"Kafka's property {key!r} is {value!r}: a class of Java, which does not run here. Use {_REFUSED[key]}."
            )
        if key not in _WITHOUT_EFFECT.split() and key not in _OTHERS[client].split():
            translated.update(_translated(key, value, properties, client))
    if "client.id.prefix" in properties:
        translated.setdefault("client.id", properties["client.id.prefix"])
    if client == "producer" and not translated.keys() & {"acks", "request.required.acks", "enable.idempotence"}:
        translated["enable.idempotence"] = True  # as Java's since Kafka 3.0
    return {**_DEFAULTS[client], **translated}


def _translated(key: str, value: str, properties: Mapping[str, str], client: str) -> Settings:
    if key == "buffer.memory" and value.strip().isdigit():  # librdkafka refuses other values
        return {_RENAMED[key]: max(int(value) // 1024, 1)}
    if key == "request.timeout.ms" and client == "consumer":
        return {"socket.timeout.ms": value}
    if key == "sasl.jaas.config":
        return _login(value)
    if key == "ssl.endpoint.identification.algorithm":
        return {key: value or "none"}
    if key == "ssl.truststore.location":
        return {"ssl.ca.location": _pem(key, value, properties.get("ssl.truststore.type", "JKS"))}
    if key == "ssl.keystore.location" and properties.get("ssl.keystore.type", "JKS").upper() != "PKCS12":
        _pem(key, value, "JKS")
    if key in ("ssl.truststore.password", "ssl.truststore.type", "ssl.keystore.type", "ssl.protocol"):
        return {}
    return {_RENAMED.get(key, key): value}


def _pem(key: str, value: str, kind: str) -> str:
    if kind.upper() == "PEM":
        return value
    raise UnsupportedError(
        f"Kafka's property {key!r} is {value!r}, a key store of Java's kind {kind}, which librdkafka cannot read. Give "
        "files in PEM: 'ssl.ca.location', 'ssl.certificate.location', 'ssl.key.location'."
    )


def _login(jaas: str) -> Settings:
    """Name and password of a JAAS login for PlainLoginModule or ScramLoginModule."""
    login = {
        key: re.sub(r"\\(.)", r"\1", value[1:-1]) if value[0] in "\"'" else value for key, value in _LOGIN.findall(jaas)
    }
    if {"username", "password"} - login.keys():
        raise UnsupportedError(
            "Kafka's property 'sasl.jaas.config' has no username and password, and other Java logins cannot be read. "
            "Give librdkafka's 'sasl.username' and 'sasl.password', or its 'sasl.…' for Kerberos and OAUTHBEARER."
        )
    return {f"sasl.{key}": value for key, value in login.items()}
