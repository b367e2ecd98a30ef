"""What a program attaches to HASH and CUSTOM edges: how a record's key is found, and who chooses the channel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.common.typeinfo import TypeInformation
from penstock.runtime.usercode.binding import bind


@dataclass(frozen=True)
class KeyPartition:
    """HASH: by key group of the selected key.

    Attributes:
        key_selector: a callable, or an object with ``get_key``.
        key_type: type of the key, None for undeclared.
    """

    key_selector: Any
    key_type: TypeInformation | None = None

    def selector(self) -> Callable[[Any], Any]:
        """The function from record to key."""
        return bind(self.key_selector, "get_key")


@dataclass(frozen=True)
class CustomPartition:
    """CUSTOM: the user's partitioner decides.

    Attributes:
        partitioner: a callable (key, number of channels) → channel, or an object with ``partition``.
        key_selector: gives the key, as in :class:`KeyPartition`.
    """

    partitioner: Any
    key_selector: Any
