"""What schemas for rows of a declared type have in common."""

from __future__ import annotations

from typing import Any

from penstock.common.typeinfo import RowTypeInfo


class TypedRows:
    """Base of them. What they make of the type does not travel: a task makes it anew.

    Attributes:
        type_info: the rows.
    """

    type_info: RowTypeInfo

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.type_info!r})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name[0] != "_"}
