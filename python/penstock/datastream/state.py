"""Descriptors of state, with PyFlink's names. So far the one that a broadcast stream needs."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.common.typeinfo import TypeInformation


@dataclass(frozen=True, slots=True)
class MapStateDescriptor:
    """Names a map state.

    Attributes:
        name: unique per operator.
        key_type_info: type of the map's keys.
        value_type_info: type of the map's values.
    """

    name: str
    key_type_info: TypeInformation
    value_type_info: TypeInformation

    def get_name(self) -> str:
        """The state's name."""
        return self.name
