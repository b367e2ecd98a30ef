"""What a program attaches to HASH and CUSTOM edges: how a record's key is found, and who chooses the channel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from penstock.common.settings import Settings
from penstock.common.typeinfo import TypeInformation
from penstock.runtime.buffers.borders import crossing
from penstock.runtime.keys.pyflink_keys import InRow
from penstock.runtime.usercode.binding import bind
from penstock.runtime.usercode.failure import failure_of

_IN_PYFLINK = Settings(pyflink_floats=True, pyflink_rows=True, pyflink_values=True)


@dataclass(frozen=True)
class KeyPartition:
    """HASH: by key group of the selected key.

    Attributes:
        key_selector: a callable, or an object with ``get_key``.
        key_type: type of the key, None for undeclared.
        call: which call of the program gave the selector, for messages.
    """

    key_selector: Any
    key_type: TypeInformation[Any] | None = None
    call: str = field(default="key_by()", compare=False)

    def selector(self) -> Callable[[Any], Any]:
        """The function from record to key: as its type has it, where PyFlink sends it to Java."""
        select = bind(self.key_selector, "get_key")
        if not isinstance(self.key_type, InRow):
            return select
        cross = crossing(self.key_type.key_type, _IN_PYFLINK)
        return select if cross is None else _crossed(select, cross)

    def functions(self) -> list[tuple[Any, str]]:
        """The user's functions, each with what it is called in messages."""
        return [(self.key_selector, f"key selector of {self.call}")]

    def failure(self, error: Exception, place: str = "before") -> Exception:
        """The failure to raise for what the selector has raised, or for a key that cannot be one.

        Args:
            error: what was raised; an operator's failure passes.
            place: where the selector runs: before the operator, or behind it.
        """
        return failure_of(f"key selector of {self.call}", place, error)


def _crossed(select: Callable[[Any], Any], cross: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def selected(record: Any) -> Any:
        key = select(record)
        return None if key is None else cross(key)

    return selected


@dataclass(frozen=True)
class CustomPartition:
    """CUSTOM: the user's partitioner decides.

    Attributes:
        partitioner: a callable (key, number of channels) → channel, or an object with ``partition``.
        key_selector: gives the key, as in :class:`KeyPartition`.
        call: which call of the program gave them, for messages.
    """

    partitioner: Any
    key_selector: Any
    call: str = field(default="partition_custom()", compare=False)

    def functions(self) -> list[tuple[Any, str]]:
        """The user's functions, each with what it is called in messages."""
        return [(self.key_selector, f"key selector of {self.call}"), (self.partitioner, f"partitioner of {self.call}")]
