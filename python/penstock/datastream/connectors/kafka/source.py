"""KafkaSource and its builder. Source of names, defaults and checks: ``KafkaSourceBuilder`` (Kafka connector 3.3)."""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from penstock.common import checks
from penstock.common.serialization import DeserializationSchema
from penstock.common.typeinfo import TypeInformation
from penstock.connectors.kafka import deserializer, flink_splits, messages, reader, split_source
from penstock.connectors.kafka.deserializer import KafkaRecordDeserializationSchema, ValueOnly
from penstock.connectors.kafka.offsets import (
    KafkaOffsetsInitializer,
    KafkaTopicPartition,
    Subscription,
    in_order,
    initializer,
)
from penstock.connectors.kafka.split_source import PartitionTracker, check_there
from penstock.datastream.connectors.kafka import builder_checks
from penstock.runtime.io.splits import Records, Source, Split

if TYPE_CHECKING:
    from typing_extensions import Self

S = TypeVar("S")
T = TypeVar("T", covariant=True)


class KafkaSource(Source[T]):
    """Reads topics of Kafka. Made by :meth:`builder`.

    When a job starts, the driver looks up the partitions and fixes where the reading of each begins and ends. Each
    partition is read by one subtask, in order. Timestamps of records are those of Kafka, unless the watermark strategy
    has a timestamp assigner. Without ``bounded`` it is bounded for the program if it has stopping offsets."""

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
        self._tracker: PartitionTracker | None = None
        self._resumed: tuple[Mapping[str, Any] | None] | None = None  # argument of resume(), of a program in steps

    def __repr__(self) -> str:
        return f"<KafkaSource of {self.subscription}>"

    @staticmethod
    def builder() -> KafkaSourceBuilder[Any]:
        """Begin with nothing but the defaults: from the earliest offsets, without an end."""
        return KafkaSourceBuilder()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_tracker": None, "_resumed": None}

    def splits(self, parallelism: int) -> list[Split]:
        if self.bounded:
            return self._to_the_end()
        return self._tracked().splits()

    def limited(self, split: Split, records: int) -> Split:
        """A number of offsets of a partition; some may have no record."""
        return split_source.limited(split, records)

    def records_in(self, splits: Iterable[Split]) -> int:
        """The number of their offsets; some may have no record."""
        return sum(split_source.offset_of(split.end) - split_source.offset_of(split.start) for split in splits)

    def read(self, split: Split) -> Iterator[Records[T]]:
        return self._read(split, None)

    def read_columns(self, split: Split, functions: ModuleType, wanted: bool) -> Iterator[Records[T]]:
        """As :meth:`read`; messages in JSON and Avro become columns, others if that is wanted."""
        return self._read(split, self._reading(functions, wanted))

    def why_objects(self, functions: ModuleType) -> str:
        """Why the schema reads each message."""
        schema = self.deserializer
        if not isinstance(schema, ValueOnly):
            return f"its {type(schema).__name__} sees whole messages"
        unknown = self._reading(functions, wanted=True) is None
        return f"native code does not read what its {type(schema.schema).__name__} does" if unknown else ""

    def _reading(self, functions: ModuleType, wanted: bool) -> Any:
        schema = self.deserializer
        return messages.reading_of(functions, schema.schema, wanted) if isinstance(schema, ValueOnly) else None

    def _read(self, split: Split, reading: Any) -> Iterator[Records[T]]:
        stop = split_source.stop_of(split.end)
        if stop is None:
            plain = split_source.plain(split)
            if plain.start != split.start:  # the position has an end that the program removed
                yield Records((), plain.start)
            yield from reader.read(self.properties, plain, self.deserializer, not self.bounded, reading)
            return
        for records in reader.read(self.properties, split_source.plain(split), self.deserializer, True, reading):
            yield replace(records, position=[records.position, stop])

    def resume(self, positions: Mapping[str, Any] | None) -> None:
        self._tracker, self._resumed = None, (positions,)
        if not self.bounded or positions is not None:
            self._tracked(positions)

    def positions_of_flink(self, state: str, elements: Iterable[object]) -> Mapping[str, Any]:
        """The offsets in the state of a KafkaSource or a FlinkKafkaConsumer of Flink."""
        return flink_splits.positions_of(state, elements)

    def committed(self, positions: Mapping[str, Any]) -> None:
        if not self.bounded:
            self._tracked().committed(positions)

    def pending(self, parallelism: int, positions: Mapping[str, Any], over: Set[str] = frozenset()) -> list[Split]:
        """Partitions with unread records, and new partitions, so that their first positions get into the manifest."""
        if self._tracker is None:
            self.resume(positions or None)
        tracker = self._tracked()
        splits = tracker.splits(positions)
        split_source.check_none_finished(splits, over)
        at = {name: tracker.moved(name, position) for name, position in positions.items()}
        unread = [split_source.from_position(split, at) for split in splits]
        return [
            split for split in unread if split.start != split.end or positions.get(split.id) != at.get(split.id, ())
        ]

    def ended(self) -> bool:
        return self.bounded or (self._tracker is not None and self._tracker.ended())

    def close(self) -> None:
        self._tracker = self._resumed = None

    def _to_the_end(self) -> list[Split]:
        """All unread splits; on resume, up to the ends that the first run determined."""
        if self._resumed is not None and self._resumed[0] is not None:
            unread = split_source.unread(self._resumed[0])
            if unread is None:
                return split_source.to_the_end(self._tracked().splits(self._resumed[0]))
            check_there(self.properties, {reader.partition_of(split.id): split.end[1] for split in unread})
            return unread
        assert self.stopping_offsets is not None
        splits = reader.splits(self.properties, self.subscription, self.starting_offsets, self.stopping_offsets)
        return splits if self._resumed is None else [split_source.with_stop(split) for split in splits]

    def _tracked(self, positions: Mapping[str, Any] | None = None) -> PartitionTracker:
        if self._tracker is None or positions is not None:
            offsets = self.starting_offsets, self.stopping_offsets
            self._tracker = PartitionTracker(self.properties, self.subscription, *offsets, positions)
        return self._tracker


class KafkaSourceBuilder(builder_checks.ClientBuilder, Generic[T]):
    """Settings of a KafkaSource before it is made. Methods change it and return it."""

    def __init__(self) -> None:
        super().__init__()
        self._subscription: tuple[str, Subscription] | None = None
        self._starting = KafkaOffsetsInitializer.earliest()
        self._stopping: KafkaOffsetsInitializer | None = None
        self._bounded = False
        self._deserializer: KafkaRecordDeserializationSchema[Any] | None = None

    def set_group_id(self, group_id: str) -> Self:
        """The consumer group. Needed for ``committed_offsets()``; it does not assign partitions."""
        return self._with("group.id", checks.name(group_id, "set_group_id", "group id"))

    def set_topics(self, *topics: str) -> Self:
        """All partitions of these topics, at least one."""
        if not topics:
            checks.refuse("set_topics() was given no topic. Give at least one.")
        names = tuple(builder_checks.topic(topic, "set_topics") for topic in topics)
        return self._subscribe("set_topics", Subscription(names))

    def set_topic_pattern(self, topic_pattern: str) -> Self:
        """All partitions of the topics whose whole name matches a regular expression, in Python's syntax; Java's
        differs in rare places."""
        pattern = builder_checks.topic(topic_pattern, "set_topic_pattern")
        try:
            re.compile(pattern)
        except re.error as error:
            checks.refuse(
                f"set_topic_pattern({pattern!r}): this is not a regular expression of Python: {error}. Topics that "
                "begin with orders are 'orders.*'."
            )
        return self._subscribe("set_topic_pattern", Subscription(pattern=pattern))

    def set_partitions(self, partitions: Iterable[KafkaTopicPartition]) -> Self:
        """Read only these partitions, at least one."""
        hint = "Give a set: {KafkaTopicPartition('orders', 0)}."
        checks.instance(partitions, "set_partitions", Iterable, hint)
        names = list(partitions)
        for partition in names:
            checks.instance(partition, "set_partitions", KafkaTopicPartition, hint)
        if not names:
            checks.refuse(f"set_partitions() was given no partition. {hint}")
        return self._subscribe("set_partitions", Subscription(partitions=in_order(set(names))))

    def set_starting_offsets(self, starting_offsets_initializer: KafkaOffsetsInitializer) -> Self:
        """Where reading begins; by default at the earliest offsets."""
        self._starting = initializer(starting_offsets_initializer, "set_starting_offsets")
        return self

    def set_bounded(self, stopping_offsets_initializer: KafkaOffsetsInitializer) -> Self:
        """Where reading ends, before these offsets, as they are determined when the job starts."""
        self._stopping, self._bounded = initializer(stopping_offsets_initializer, "set_bounded"), True
        return self

    def set_unbounded(self, stopping_offsets_initializer: KafkaOffsetsInitializer) -> Self:
        """Where reading ends, in a stream that is still unbounded: it is read in steps, and new partitions are
        discovered, unless ``partition.discovery.interval.ms`` is -1; then the source ends there."""
        self._stopping, self._bounded = initializer(stopping_offsets_initializer, "set_unbounded"), False
        return self

    def set_value_only_deserializer(self, deserialization_schema: DeserializationSchema[S]) -> KafkaSourceBuilder[S]:
        """Deserialize values only; keys and headers are dropped."""
        self._deserializer = ValueOnly(deserializer.value_schema(deserialization_schema, "set_value_only_deserializer"))
        return cast("KafkaSourceBuilder[S]", self)

    def set_deserializer(self, record_deserializer: KafkaRecordDeserializationSchema[S]) -> KafkaSourceBuilder[S]:
        """Deserialize whole records, with key, headers and offset (Flink's Java API)."""
        self._deserializer = deserializer.record_schema(record_deserializer, "set_deserializer")
        return cast("KafkaSourceBuilder[S]", self)

    def set_client_id_prefix(self, prefix: str) -> Self:
        """The prefix of the client ids in logs and metrics of the brokers."""
        return self._with("client.id.prefix", checks.name(prefix, "set_client_id_prefix", "prefix"))

    def set_properties(self, props: Mapping[str, str]) -> Self:
        """Properties of Kafka's consumer, by name."""
        self._properties.update(builder_checks.properties(props, "set_properties"))
        return self

    def build(self) -> KafkaSource[T]:
        """The source, which needs brokers, topics, a deserializer, and for offsets committed by a group its id."""
        self._check_servers()
        needed = builder_checks.needed
        subscription = needed(self._subscription, "what to read", "set_topics('orders')", self)[1]
        call = "set_value_only_deserializer(SimpleStringSchema())"
        schema: KafkaRecordDeserializationSchema[T] = needed(self._deserializer, "how records are read", call, self)
        kinds = self._starting.kind, getattr(self._stopping, "kind", "")
        if "group.id" not in self._properties and "committed" in kinds:
            checks.refuse(
                "KafkaSourceBuilder.build(): committed_offsets() needs a consumer group, and none is set. Call "
                "set_group_id('mine') first.",
                checks.ILLEGAL_STATE,
            )
        return KafkaSource(self._properties, subscription, self._starting, self._stopping, schema, self._bounded)

    def _subscribe(self, call: str, subscription: Subscription) -> Self:
        if self._subscription is not None:
            checks.refuse(
                f"{call}() was called after {self._subscription[0]}(). A KafkaSource reads topics, or a pattern, or "
                "partitions: call one of the three, once.",
                checks.ILLEGAL_STATE,
            )
        self._subscription = call, subscription
        return self
