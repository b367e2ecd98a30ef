"""KafkaSource and its builder (PyFlink: ``pyflink.datastream.connectors.kafka``).

Source of names, defaults and checks: ``KafkaSourceBuilder`` (Flink's Kafka connector 3.3).
"""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import replace
from typing import Any, Generic, TypeVar, cast

from penstock.common import checks
from penstock.common.serialization import DeserializationSchema
from penstock.common.typeinfo import TypeInformation
from penstock.datastream.connectors.kafka import given
from penstock.runtime.io.splits import Records, Source, Split
from penstock.runtime.kafka import deserializing, following, reading
from penstock.runtime.kafka.deserializing import KafkaRecordDeserializationSchema, ValueOnly
from penstock.runtime.kafka.following import Following
from penstock.runtime.kafka.offsets import KafkaOffsetsInitializer, KafkaTopicPartition, initializer
from penstock.runtime.kafka.subscription import Subscription, in_order

S = TypeVar("S")
T = TypeVar("T", covariant=True)


class KafkaSource(Source[T]):
    """Reads topics of Kafka. Made by :meth:`builder`.

    When a job starts, the driver looks up the partitions and fixes where the reading of each begins and ends. Each
    partition is read by one subtask, in order. Timestamps of records are those of Kafka, unless the watermark strategy
    has a timestamp assigner.

    Attributes:
        properties: of Kafka's consumer.
        subscription: what is read.
        starting_offsets: where reading begins.
        stopping_offsets: where it ends; None for never.
        deserializer: makes records.
        bounded: whether it ends there for the program, too (``set_bounded``); None for: if it ends.
    """

    advice = (
        "set_bounded(KafkaOffsetsInitializer.latest()) of the builder of the KafkaSource: it reads what is there when "
        "the job starts, and ends"
    )
    together = True

    def __init__(
        self,
        properties: Mapping[str, str],
        subscription: Subscription,
        starting_offsets: KafkaOffsetsInitializer,
        stopping_offsets: KafkaOffsetsInitializer | None,
        deserializer: KafkaRecordDeserializationSchema[T],
        bounded: bool | None = None,
    ) -> None:
        self.properties: dict[str, str] = dict(properties)
        self.subscription: Subscription = subscription
        self.starting_offsets: KafkaOffsetsInitializer = starting_offsets
        self.stopping_offsets: KafkaOffsetsInitializer | None = stopping_offsets
        self.deserializer: KafkaRecordDeserializationSchema[T] = deserializer
        self.bounded: bool = stopping_offsets is not None if bounded is None else bounded
        self.produced_type: TypeInformation[object] | None = deserializer.get_produced_type()
        self._following: Following | None = None
        self._resumed: tuple[Mapping[str, Any] | None] | None = None  # in steps: what resume() was given

    def __repr__(self) -> str:
        return f"<KafkaSource of {self.subscription}>"

    @staticmethod
    def builder() -> KafkaSourceBuilder[Any]:
        """Begin with nothing but the defaults: from the earliest offsets, without an end."""
        return KafkaSourceBuilder()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_following": None, "_resumed": None}

    def splits(self, parallelism: int) -> list[Split]:
        """The partitions that have something to read, with the offsets where it begins and ends; of a source that is
        not bounded all partitions there are now, with where they end now.

        Raises:
            ConfigurationError: no broker answers, a topic or an offset is not there, or confluent-kafka is not
                installed.
        """
        if self.bounded:
            return self._to_the_end()
        return self._followed().splits()

    def limited(self, split: Split, records: int) -> Split:
        """That many offsets of a partition, of which some may have no record."""
        return following.limited(split, records)

    def read(self, split: Split) -> Iterator[Records[T]]:
        """The records of a partition."""
        stop = following.stop_of(split.end)
        if stop is None:
            plain = following.plain(split)
            if plain.start != split.start:  # the position still says an end that the source has no longer
                yield Records((), plain.start)
            yield from reading.read(self.properties, plain, self.deserializer, keep=not self.bounded)
            return
        for records in reading.read(self.properties, following.plain(split), self.deserializer, keep=True):
            yield replace(records, position=[records.position, stop])

    def resume(self, positions: Mapping[str, Any] | None) -> None:
        """Go on at the positions of an earlier run, or begin: see :class:`~penstock.runtime.io.splits.Source`."""
        self._following, self._resumed = None, (positions,)
        if not self.bounded or positions is not None:
            self._followed(positions)

    def committed(self, positions: Mapping[str, Any]) -> None:
        """Commit the offsets of the next records for the group, unless ``commit.offsets.on.checkpoint`` is false. Only
        tools that show how far a group is behind look at them; a failure is logged."""
        if not self.bounded:
            self._followed().committed(positions)

    def pending(self, parallelism: int, positions: Mapping[str, Any], over: Set[str] = frozenset()) -> list[Split]:
        """The partitions with something to read now, and those that are seen first, so that their first positions get
        into the manifest."""
        if self._following is None:
            self.resume(positions or None)
        found = self.splits(parallelism)
        following.check_none_over(found, over)
        begun = [following.begun(split, positions) for split in found]
        return [split for split in begun if split.id not in positions or split.start != split.end]

    def ended(self) -> bool:
        """Whether the end of ``set_bounded`` is there, or of ``set_unbounded`` where partitions are not discovered."""
        return self.bounded or (self._following is not None and self._following.ended())

    def close(self) -> None:
        """Forget the partitions: another job begins anew."""
        self._following = self._resumed = None

    def _to_the_end(self) -> list[Split]:
        """All there is to read; in a job that goes in steps, where the first run has found the ends."""
        if self._resumed is not None and self._resumed[0] is not None:
            left = following.left(self._resumed[0])
            return following.to_the_end(self._followed().splits()) if left is None else left
        assert self.stopping_offsets is not None
        found = reading.splits(self.properties, self.subscription, self.starting_offsets, self.stopping_offsets)
        return found if self._resumed is None else [following.carrying(split) for split in found]

    def _followed(self, positions: Mapping[str, Any] | None = None) -> Following:
        if self._following is None or positions is not None:
            given = self.properties, self.subscription, self.starting_offsets, self.stopping_offsets
            self._following = Following(*given, positions)
        return self._following


class KafkaSourceBuilder(Generic[T]):
    """Settings of a KafkaSource before it is made. Methods change it and return it."""

    def __init__(self) -> None:
        self._properties: dict[str, str] = {}
        self._subscription: tuple[str, Subscription] | None = None
        self._starting = KafkaOffsetsInitializer.earliest()
        self._stopping: KafkaOffsetsInitializer | None = None
        self._bounded = False
        self._deserializer: KafkaRecordDeserializationSchema[Any] | None = None

    def set_bootstrap_servers(self, bootstrap_servers: str) -> KafkaSourceBuilder[T]:
        """Brokers to begin with.

        Args:
            bootstrap_servers: hosts and ports with commas between: ``localhost:9092``.
        """
        return self._with("bootstrap.servers", given.servers(bootstrap_servers))

    def set_group_id(self, group_id: str) -> KafkaSourceBuilder[T]:
        """The consumer group. It is needed for ``committed_offsets()``; partitions are not dealt out by it."""
        return self._with("group.id", checks.name(group_id, "set_group_id", "group id"))

    def set_topics(self, *topics: str) -> KafkaSourceBuilder[T]:
        """All partitions of these topics.

        Args:
            topics: names, at least one.
        """
        if not topics:
            checks.refuse("set_topics() was given no topic. Give at least one.")
        return self._subscribe("set_topics", Subscription(tuple(given.topic(each, "set_topics") for each in topics)))

    def set_topic_pattern(self, topic_pattern: str) -> KafkaSourceBuilder[T]:
        """All partitions of the topics whose whole name matches.

        Args:
            topic_pattern: a regular expression, in Python's syntax; Java's differs in rare places.
        """
        pattern = given.topic(topic_pattern, "set_topic_pattern")
        try:
            re.compile(pattern)
        except re.error as error:
            checks.refuse(
                f"set_topic_pattern({pattern!r}): this is no regular expression of Python: {error}. Topics that begin "
                "with orders are 'orders.*'."
            )
        return self._subscribe("set_topic_pattern", Subscription(pattern=pattern))

    def set_partitions(self, partitions: Iterable[KafkaTopicPartition]) -> KafkaSourceBuilder[T]:
        """These partitions and no others.

        Args:
            partitions: a set, at least one.
        """
        hint = "Give a set: {KafkaTopicPartition('orders', 0)}."
        checks.instance(partitions, "set_partitions", Iterable, hint)
        each = list(partitions)
        for partition in each:
            checks.instance(partition, "set_partitions", KafkaTopicPartition, hint)
        if not each:
            checks.refuse(f"set_partitions() was given no partition. {hint}")
        return self._subscribe("set_partitions", Subscription(partitions=in_order(set(each))))

    def set_starting_offsets(self, starting_offsets_initializer: KafkaOffsetsInitializer) -> KafkaSourceBuilder[T]:
        """Where reading begins; without this call at the earliest offsets."""
        self._starting = initializer(starting_offsets_initializer, "set_starting_offsets")
        return self

    def set_bounded(self, stopping_offsets_initializer: KafkaOffsetsInitializer) -> KafkaSourceBuilder[T]:
        """Where reading ends; the record at such an offset is not read any more. The offsets are looked up when the job
        starts."""
        self._stopping, self._bounded = initializer(stopping_offsets_initializer, "set_bounded"), True
        return self

    def set_unbounded(self, stopping_offsets_initializer: KafkaOffsetsInitializer) -> KafkaSourceBuilder[T]:
        """Where reading ends, of a stream that is an endless one all the same: it is read step by step, and new
        partitions are looked for, unless ``partition.discovery.interval.ms`` is -1; then the source ends there."""
        self._stopping, self._bounded = initializer(stopping_offsets_initializer, "set_unbounded"), False
        return self

    def set_value_only_deserializer(self, deserialization_schema: DeserializationSchema[S]) -> KafkaSourceBuilder[S]:
        """How values become records; keys and headers are left out."""
        schema = deserializing.value_schema(deserialization_schema, "set_value_only_deserializer")
        self._deserializer = ValueOnly(schema)
        return cast("KafkaSourceBuilder[S]", self)

    def set_deserializer(self, record_deserializer: KafkaRecordDeserializationSchema[S]) -> KafkaSourceBuilder[S]:
        """How whole records, with key, headers and offset, become records of the stream (Flink's Java API)."""
        self._deserializer = deserializing.record_schema(record_deserializer, "set_deserializer")
        return cast("KafkaSourceBuilder[S]", self)

    def set_client_id_prefix(self, prefix: str) -> KafkaSourceBuilder[T]:
        """What the ids of Kafka's clients begin with, in logs and metrics of the brokers."""
        return self._with("client.id.prefix", checks.name(prefix, "set_client_id_prefix", "prefix"))

    def set_property(self, key: str, value: str) -> KafkaSourceBuilder[T]:
        """A property of Kafka's consumer.

        Args:
            key: its name, such as ``isolation.level``.
            value: a text, also of numbers.
        """
        return self._with(*given.one_property(key, value, "set_property"))

    def set_properties(self, props: Mapping[str, str]) -> KafkaSourceBuilder[T]:
        """Properties of Kafka's consumer, by name."""
        self._properties.update(given.properties(props, "set_properties"))
        return self

    def build(self) -> KafkaSource[T]:
        """The source.

        Raises:
            InvalidProgramError: bootstrap servers, topics or a deserializer are missing, or a group id where offsets
                that it has committed are wanted.
        """
        builder = "KafkaSourceBuilder"
        known = "bootstrap.servers" in self._properties
        given.needed(known, "the address of a broker", "set_bootstrap_servers('localhost:9092')", builder)
        given.needed(self._subscription is not None, "what to read", "set_topics('orders')", builder)
        deserializer = "set_value_only_deserializer(SimpleStringSchema())"
        given.needed(self._deserializer is not None, "how records are read", deserializer, builder)
        if "group.id" not in self._properties and "committed" in (
            self._starting.kind,
            getattr(self._stopping, "kind", ""),
        ):
            checks.refuse(
                "KafkaSourceBuilder.build(): committed_offsets() are those of a consumer group, and none is named. "
                "Call set_group_id('mine') before.",
                checks.ILLEGAL_STATE,
            )
        subscription = cast("tuple[str, Subscription]", self._subscription)[1]
        schema = cast("KafkaRecordDeserializationSchema[T]", self._deserializer)
        return KafkaSource(self._properties, subscription, self._starting, self._stopping, schema, self._bounded)

    def _with(self, key: str, value: str) -> KafkaSourceBuilder[T]:
        self._properties[key] = value
        return self

    def _subscribe(self, call: str, subscription: Subscription) -> KafkaSourceBuilder[T]:
        if self._subscription is not None:
            checks.refuse(
                f"{call}() was called after {self._subscription[0]}(). A KafkaSource reads topics, or a pattern, or "
                "partitions: call one of the three, once.",
                checks.ILLEGAL_STATE,
            )
        self._subscription = call, subscription
        return self
