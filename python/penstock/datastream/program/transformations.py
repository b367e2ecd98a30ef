"""Transformations: the nodes that a program creates, one class per kind of Flink's ``Transformation``.

They are plain records, created in the order of the API calls and read once, by the translation. Each takes the next id
of its program, also virtual ones, as in Flink, since ids show in plans. Programs reach them through
``stream.transformation`` for the few settings without a method. 100,000 operators are built in well under a second.
"""
# pyright: reportUnnecessaryComparison=false, reportUnnecessaryIsInstance=false

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

from penstock.common import checks
from penstock.common.functions.output_tag import OutputTag
from penstock.common.typeinfo import TypeInformation
from penstock.datastream.program.call_site import Mark, mark
from penstock.datastream.slot_sharing_group import ResourceSpec, SlotSharingGroup

_UID_HASH = re.compile(r"[0-9A-Fa-f]{32}")


@dataclass(slots=True)
class Extras:
    """Rare settings, kept apart so that other operators need no memory for them."""

    co_location_group: str | None = None
    managed_memory_weight: int | None = None
    min_resources: ResourceSpec | None = None
    preferred_resources: ResourceSpec | None = None
    group: SlotSharingGroup | None = None
    description: str | None = None
    side_outputs: dict[str, TypeInformation[Any] | None] | None = None


@dataclass(slots=True, eq=False, repr=False)
class Transformation:
    """The base of all transformations."""

    id: int
    name: str
    output_type: TypeInformation[Any] | None
    parallelism: int
    max_parallelism: int = field(default=-1, init=False)
    uid: str | None = field(default=None, init=False)
    user_hash: str | None = field(default=None, init=False)
    slot_sharing_group: str | None = field(default=None, init=False)
    buffer_timeout: int = field(default=-1, init=False)
    extras: Extras | None = field(default=None, init=False)

    def set_uid_hash(self, uid_hash: str) -> None:
        """Take 32 hex digits as the operator's ID itself (Flink: ``setUidHash``)."""
        if not isinstance(uid_hash, str) or _UID_HASH.fullmatch(uid_hash) is None:
            checks.refuse(
                f"set_uid_hash({uid_hash!r}) on {self.name!r}: a uid hash is an operator ID of exactly 32 hex digits, "
                "as it is in logs and savepoints. For an identity of your own choice use uid().",
                checks.NULL_POINTER if uid_hash is None else checks.ILLEGAL_ARGUMENT,
            )
        self.user_hash = uid_hash

    def set_buffer_timeout(self, timeout_millis: int) -> None:
        """Milliseconds until an unfilled buffer is sent; −1 leaves it to the environment."""
        checks.integer(timeout_millis, "set_buffer_timeout", "timeout in milliseconds")
        if timeout_millis < -1:
            checks.illegal_argument(
                f"set_buffer_timeout({timeout_millis}) on {self.name!r}: a timeout is 0 or more milliseconds, or -1 "
                "for the environment's. Give the time in milliseconds."
            )
        self.buffer_timeout = timeout_millis

    def _own_extras(self) -> Extras:
        if self.extras is None:
            self.extras = Extras()
        return self.extras

    def set_slot_sharing_group(self, group: str | SlotSharingGroup | None) -> None:
        """Put the operator into a group, by its name or as a whole. None: as its inputs."""
        if isinstance(group, SlotSharingGroup):
            self._own_extras().group, group = group, group.name
        elif self.extras is not None:
            self.extras.group = None
        self.slot_sharing_group = checks.name(group, "slot_sharing_group", "group name", optional=True)

    def set_co_location_group_key(self, key: str | None) -> None:
        """Subtasks of equal index of all operators with this key share a slot. None unsets it."""
        self._own_extras().co_location_group = checks.name(key, "set_co_location_group_key", "key", optional=True)

    def set_description(self, description: str) -> None:
        """A description for ``penstock explain``."""
        self._own_extras().description = checks.name(description, "set_description", "description")

    def ask_for_side_output(self, tag: OutputTag[Any]) -> TypeInformation[Any] | None:
        """Record that the program uses a side output. Returns the type of its first use."""
        extras = self._own_extras()
        if extras.side_outputs is None:
            extras.side_outputs = {}
        return extras.side_outputs.setdefault(tag.tag_id, tag.type_info)

    def set_managed_memory_weight(self, weight: int) -> None:
        """Share of the slot's managed memory, relative to the operators it shares the slot with."""
        checks.integer(weight, "set_managed_memory_weight", "weight")
        if weight < 0:
            checks.illegal_argument(
                f"set_managed_memory_weight({weight}) on {self.name!r}: it is 0 or more. Give one, 0 for none."
            )
        self._own_extras().managed_memory_weight = weight

    def set_resources(self, min_resources: ResourceSpec, preferred_resources: ResourceSpec) -> None:
        """The minimum and preferred resources of a subtask; the second is at least the first in every respect."""
        if not min_resources.fits(preferred_resources):
            checks.illegal_argument(
                f"set_resources on {self.name!r}: the preferred resources {preferred_resources} are below the minimum "
                f"{min_resources}. Swap the two arguments, or raise the second."
            )
        extras = self._own_extras()
        extras.min_resources, extras.preferred_resources = min_resources, preferred_resources

    def __repr__(self) -> str:
        declared = "undeclared" if self.output_type is None else self.output_type
        kind, name = type(self).__name__, self.name
        return f"{kind}(id={self.id}, {name=}, type={declared}, parallelism={self.parallelism})"


@dataclass(slots=True, eq=False, repr=False)
class PhysicalTransformation(Transformation):
    """An operator that becomes a node of the graph."""

    kind: ClassVar[str]
    prefix: ClassVar[str] = ""
    yielding: ClassVar[bool] = False
    task: ClassVar[str | None] = None

    operator: Any
    chaining_strategy: str = field(default="ALWAYS", kw_only=True)
    made_at: Mark = field(init=False)

    def __post_init__(self) -> None:
        self.made_at = mark(3)  # after this and __init__


@dataclass(slots=True, eq=False, repr=False)
class SourceTransformation(PhysicalTransformation):
    """A source function (Flink: LegacySourceTransformation)."""

    kind = "source"
    prefix = "Source: "
    chaining_strategy: str = field(default="HEAD", kw_only=True)


@dataclass(slots=True, eq=False, repr=False)
class NewSourceTransformation(SourceTransformation):
    """A source of the new kind (Flink: SourceTransformation); unlike after a legacy source, operators can chain."""

    task: ClassVar[str | None] = "SourceOperatorStreamTask"
    chaining_strategy: str = field(default="ALWAYS", kw_only=True)


@dataclass(slots=True, eq=False, repr=False)
class OneInputTransformation(PhysicalTransformation):
    """An operator with one input."""

    kind = "operator"
    input: Transformation


class YieldingTransformation(OneInputTransformation):
    """An operator that yields to its mailbox: file reader and async wait. It never chains to a legacy source."""

    __slots__ = ()
    yielding = True


@dataclass(slots=True, eq=False, repr=False)
class TwoInputTransformation(PhysicalTransformation):
    """An operator with two inputs; it always starts a chain."""

    kind = "two_input"
    input1: Transformation
    input2: Transformation
    chaining_strategy: str = field(default="HEAD", kw_only=True)


@dataclass(slots=True, eq=False, repr=False)
class SinkTransformation(PhysicalTransformation):
    """A sink. Its ``output_type`` is the type of its input, for printing and writing."""

    kind = "sink"
    prefix = "Sink: "
    input: Transformation


class PartitionTransformation(Transformation):
    """A virtual node: how records travel to its consumers."""

    __slots__ = ("input", "partitioner", "spec")

    def __init__(self, id: int, input: Transformation, partitioner: str, spec: Any = None) -> None:
        super().__init__(id, "Partition", input.output_type, input.parallelism)
        self.input: Transformation = input
        self.partitioner: str = partitioner
        self.spec: Any = spec


class UnionTransformation(Transformation):
    """A virtual node: several streams as one; parallelism and type are the first one's."""

    __slots__ = ("inputs",)

    def __init__(self, id: int, inputs: list[Transformation]) -> None:
        super().__init__(id, "Union", inputs[0].output_type, inputs[0].parallelism)
        self.inputs: list[Transformation] = inputs


class SideOutputTransformation(Transformation):
    """A virtual node: the records that an operator emits under a tag."""

    __slots__ = ("input", "tag")

    def __init__(self, id: int, input: Transformation, tag: OutputTag[Any]) -> None:
        super().__init__(id, "SideOutput", tag.type_info, input.parallelism)
        self.input: Transformation = input
        self.tag: OutputTag[Any] = tag


@dataclass(slots=True, eq=False, repr=False)
class FeedbackTransformation(Transformation):
    """An iteration: its input together with its feedback."""

    input: Transformation | None
    max_wait_time: int
    feedback: list[Transformation] = field(default_factory=list[Transformation], init=False)

    def add_feedback(self, stream: Transformation) -> None:
        """Add a feedback stream, which must have the loop's parallelism."""
        if stream.parallelism != self.parallelism:
            checks.unsupported_operation(
                f"close_with(): the feedback {stream.name!r} has parallelism {stream.parallelism}, the "
                f"loop {self.parallelism}. Head and tail of a loop run in pairs; set one of the two with "
                "set_parallelism()."
            )
        self.feedback.append(stream)


def leading_to(roots: Iterable[Transformation], *, feedback: bool = True) -> Iterator[Transformation]:
    """Transformations with all their transitive inputs, and, with ``feedback``, those of loops. O(transformations)."""
    pending, seen = list(roots), set[int]()
    while pending:
        current = pending.pop()
        if current.id not in seen:
            seen.add(current.id)
            yield current
            pending.extend(inputs_of(current))
            pending.extend(current.feedback if feedback and isinstance(current, FeedbackTransformation) else ())


def inputs_of(transformation: Transformation) -> Sequence[Transformation]:
    """The inputs of a transformation, in order. Feedback is not an input of its loop."""
    if isinstance(transformation, UnionTransformation):
        return transformation.inputs
    if isinstance(transformation, TwoInputTransformation):
        return (transformation.input1, transformation.input2)
    if isinstance(transformation, SourceTransformation):
        return ()
    only = cast("Transformation | None", transformation.input)  # type: ignore[attr-defined]
    return () if only is None else (only,)
