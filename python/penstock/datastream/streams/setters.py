"""The setters of operators and sinks, which change a plan but no results, and the defaults of fields in old state.

Every setter returns its stream. It takes effect when the program is translated, so it also counts if the stream is
already in use. The last call wins.
"""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from penstock.common import checks
from penstock.datastream.program.transformations import PhysicalTransformation, Transformation
from penstock.datastream.slot_sharing_group import SlotSharingGroup
from penstock.runtime.chain.operator import StreamOperator

if TYPE_CHECKING:
    from typing_extensions import Self


class CommonSetters:
    """Setters of both operators and sinks."""

    __slots__ = ()
    transformation: Any

    def name(self, name: str) -> Self:
        """Name the operator in plans and logs. It does not affect operator IDs."""
        self.transformation.name = checks.name(name, "name", "operator name")
        return self

    def set_description(self, description: str) -> Self:
        """Describe the operator for readers of ``penstock explain``. Plans and IDs do not change."""
        self.transformation.set_description(description)
        return self

    def uid(self, uid: str | None) -> Self:
        """Give the operator an identity that survives changes of the program; unique per job. None unsets it."""
        self.transformation.uid = checks.name(uid, "uid", "uid", optional=True)
        return self

    def set_uid_hash(self, uid_hash: str) -> Self:
        """Take over an operator ID from an old job: 32 hex digits."""
        self.transformation.set_uid_hash(uid_hash)
        return self

    def disable_chaining(self) -> Self:
        """Run this operator in a task of its own."""
        return self._set_chaining("NEVER")

    def _set_chaining(self, strategy: str) -> Self:
        transformation: Transformation = self.transformation
        if not isinstance(transformation, PhysicalTransformation):
            checks.unsupported_operation(
                f"Chaining cannot be controlled on {transformation.name!r}: it is not a separate operator. "
                "Set it on the operator before or after it."
            )
        transformation.chaining_strategy = strategy
        return self

    def slot_sharing_group(self, slot_sharing_group: str | SlotSharingGroup | None) -> Self:
        """Put the operator into a slot sharing group, by name or with what its slots need; operators after it inherit
        the group. None: as the operator's inputs."""
        self.transformation.set_slot_sharing_group(slot_sharing_group)
        return self


class OperatorSetters(CommonSetters):
    """Setters of the result of ``map``, of a source, of a window function, …."""

    __slots__ = ()
    _non_parallel: bool
    _serial_source: bool

    def set_parallelism(self, parallelism: int) -> Self:
        """Number of subtasks: at least 1, or −1 for the environment's at execution; 1 if the operator is not
        parallel."""
        fixed = self._non_parallel or self._serial_source
        self.transformation.parallelism = checks.parallelism(
            parallelism, "set_parallelism", self.transformation.name, fixed=fixed
        )
        return self

    def set_max_parallelism(self, max_parallelism: int) -> Self:
        """Number of key groups, 1 to 32768: an upper bound of the parallelism of keyed state, for good."""
        self.transformation.max_parallelism = checks.max_parallelism(
            max_parallelism, "set_max_parallelism", self.transformation.name, fixed=self._non_parallel
        )
        return self

    def force_non_parallel(self) -> Self:
        """Fix parallelism and max parallelism to 1; later setters are refused."""
        self.transformation.parallelism = 1
        self.transformation.max_parallelism = 1
        self._non_parallel = True
        return self

    def set_buffer_timeout(self, timeout_millis: int) -> Self:
        """Milliseconds until an unfilled output buffer is sent; −1 for the environment's."""
        self.transformation.set_buffer_timeout(timeout_millis)
        return self

    def with_field_defaults(self, defaults: Mapping[str, Any]) -> Self:
        """Set the values of new fields in records of old state, of a reduction, an aggregation or a window. (For the
        state of a function see ``with_field_defaults`` of its descriptor.)

        Args:
            defaults: by field name, ``f2`` and the like in tuples; by path in nested records, such as ``address.zip``.
                Mutable values are copied for each record. A further call adds defaults.
        """
        name, operator = self.transformation.name, getattr(self.transformation, "operator", None)
        if not isinstance(defaults, Mapping) or not all(isinstance(name, str) for name in defaults):
            checks.refuse(
                f"with_field_defaults() of {name!r} was given {checks.shown(defaults)}. Give a dict, such as "
                "{'count': 0}."
            )
        if not isinstance(operator, StreamOperator) or not operator.keeps_records:
            checks.unsupported_operation(
                f"with_field_defaults() of {name!r}: its state has no records of its input. Reductions, aggregations "
                "and windows have; for the state of a function use with_field_defaults() of its descriptor."
            )
        self.transformation.operator = replace(operator, field_defaults={**(operator.field_defaults or {}), **defaults})
        return self

    def start_new_chain(self) -> Self:
        """Begin a new task with this operator; operators after it may still chain to it."""
        return self._set_chaining("HEAD")


OPERATOR_SETTERS = frozenset(
    name for cls in (CommonSetters, OperatorSetters) for name in vars(cls) if not name.startswith("_")
) - {"transformation"}
"""The setters that only operators have; other streams explain this when one is called."""
