"""The setters of operators and of sinks: what changes a plan and not a result, and what old state becomes.

Every setter returns its stream, so calls can be strung together, and takes effect when the program is translated: a
setter called after the stream was already used still counts. The last call wins.
"""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from penstock.common import checks
from penstock.datastream.program.transformations import PhysicalTransformation, Transformation
from penstock.datastream.slot_sharing_group import SlotSharingGroup
from penstock.runtime.chain.operator import StreamOperator

_Self = TypeVar("_Self", bound="CommonSetters")
_Operator = TypeVar("_Operator", bound="OperatorSetters")
_Sink = TypeVar("_Sink", bound="SinkSetters")


class CommonSetters:
    """What operators and sinks share."""

    __slots__ = ()
    transformation: Any

    def name(self: _Self, name: str) -> _Self:
        """Name the operator in plans and logs. It does not affect operator IDs."""
        self.transformation.name = checks.name(name, "name", "operator name")
        return self

    def set_description(self: _Self, description: str) -> _Self:
        """Say more of the operator than its name does, to readers of ``penstock explain``. Plans and IDs stay as they
        are: those of Flink 1.11 have no descriptions."""
        self.transformation.set_description(description)
        return self

    def uid(self: _Self, uid: str | None) -> _Self:
        """Give the operator an identity that survives changes of the program; unique per job. None unsets it."""
        self.transformation.uid = checks.name(uid, "uid", "uid", optional=True)
        return self

    def set_uid_hash(self: _Self, uid_hash: str) -> _Self:
        """Take over an operator ID from an old job: 32 hex digits."""
        self.transformation.set_uid_hash(uid_hash)
        return self

    def disable_chaining(self: _Self) -> _Self:
        """Run this operator in a task of its own."""
        return self._set_chaining("NEVER")

    def _set_chaining(self: _Self, strategy: str) -> _Self:
        transformation: Transformation = self.transformation
        if not isinstance(transformation, PhysicalTransformation):
            checks.unsupported_operation(
                f"Chaining cannot be controlled on {transformation.name!r}: it is no operator of its own. "
                "Set it on the operator before or after it."
            )
        transformation.chaining_strategy = strategy
        return self

    def slot_sharing_group(self: _Self, slot_sharing_group: str | SlotSharingGroup | None) -> _Self:
        """Put the operator into a slot sharing group; operators after it inherit the group.

        Args:
            slot_sharing_group: its name, or the group with what its slots need; None: as the operator's inputs.
        """
        self.transformation.set_slot_sharing_group(slot_sharing_group)
        return self


class OperatorSetters(CommonSetters):
    """Setters of what ``map``, a source, a window function … return."""

    __slots__ = ()
    _non_parallel: bool
    _serial_source: bool

    def set_parallelism(self: _Operator, parallelism: int) -> _Operator:
        """Number of subtasks: at least 1, or −1 for the environment's at execution.

        Raises:
            InvalidProgramError: another number, or not 1 on an operator that is not parallel.
        """
        fixed = self._non_parallel or self._serial_source
        self.transformation.parallelism = checks.parallelism(
            parallelism, "set_parallelism", self.transformation.name, fixed=fixed
        )
        return self

    def set_max_parallelism(self: _Operator, max_parallelism: int) -> _Operator:
        """Number of key groups, 1 to 32768: the most subtasks that keyed state can ever be spread over."""
        self.transformation.max_parallelism = checks.max_parallelism(
            max_parallelism, "set_max_parallelism", self.transformation.name, fixed=self._non_parallel
        )
        return self

    def force_non_parallel(self: _Operator) -> _Operator:
        """Fix parallelism and max parallelism to 1; later setters are refused."""
        self.transformation.parallelism = 1
        self.transformation.max_parallelism = 1
        self._non_parallel = True
        return self

    def set_buffer_timeout(self: _Operator, timeout_millis: int) -> _Operator:
        """Milliseconds until an unfilled output buffer is sent; −1 for the environment's."""
        self.transformation.set_buffer_timeout(timeout_millis)
        return self

    def with_field_defaults(self: _Operator, defaults: Mapping[str, Any]) -> _Operator:
        """What fields have in old state that its records have gained: of a reduction, an aggregation or a window, whose
        state is records of its input, reductions of these, or accumulators. State of a function's own has its
        descriptor's ``with_field_defaults``.

        Args:
            defaults: by name, of a tuple ``f2`` and the like; in a record within a record by path, such as
                ``address.zip``. What can be changed is copied for each. A further call adds to them.

        Raises:
            InvalidProgramError: they are not by name, or the operator keeps no records.
        """
        name, operator = self.transformation.name, getattr(self.transformation, "operator", None)
        if not isinstance(defaults, Mapping) or not all(isinstance(each, str) for each in defaults):
            checks.refuse(
                f"with_field_defaults() of {name!r} was given {checks.shown(defaults)}. Give a dict, such as "
                "{'count': 0}."
            )
        if not isinstance(operator, StreamOperator) or not operator.keeps_records:
            checks.unsupported_operation(
                f"with_field_defaults() of {name!r}: it keeps no records of its input. Reductions, aggregations and "
                "windows do; say those of a function's state by the with_field_defaults() of its descriptor."
            )
        self.transformation.operator = replace(operator, field_defaults={**(operator.field_defaults or {}), **defaults})
        return self

    def start_new_chain(self: _Operator) -> _Operator:
        """Begin a new task with this operator; operators after it may still chain to it."""
        return self._set_chaining("HEAD")


class SinkSetters(CommonSetters):
    """Setters of a sink."""

    __slots__ = ()

    def set_parallelism(self: _Sink, parallelism: int) -> _Sink:
        """Number of subtasks: at least 1, or −1 for the environment's at execution."""
        self.transformation.parallelism = checks.parallelism(parallelism, "set_parallelism", self.transformation.name)
        return self


OPERATOR_SETTERS = frozenset(
    name for cls in (CommonSetters, OperatorSetters) for name in vars(cls) if not name.startswith("_")
) - {"transformation"}
"""Names of the setters that only operators have; a stream that is no operator explains itself when one is called."""
