"""OutputTag: the name of a side output."""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar, cast, overload

from penstock.common.callables import shown
from penstock.common.java.java_types import JavaOutputTag
from penstock.common.row import Row
from penstock.common.typeinfo import TypeInformation, Types
from penstock.errors import InvalidProgramError, TypeInfoError

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, init=False)
class OutputTag(Generic[T_co]):
    """Names a side output of records of type ``T``; a function emits to it with ``yield tag, value``. Tags are equal
    when their ids are (Flink: ``OutputTag.equals``).

    Args:
        tag_id: any non-empty text, unique per operator.
        type_info: type of the side output's records; a list of types means a row; None means undeclared.
    """

    tag_id: str
    type_info: TypeInformation[T_co] | None = field(compare=False)

    @overload
    def __init__(self, tag_id: str, type_info: TypeInformation[T_co] | None = None) -> None: ...

    @overload
    def __init__(self: OutputTag[Row], tag_id: str, type_info: Sequence[TypeInformation[object]]) -> None: ...

    def __init__(
        self, tag_id: str, type_info: TypeInformation[T_co] | Sequence[TypeInformation[object]] | None = None
    ) -> None:
        if not isinstance(tag_id, str) or not tag_id:
            raise InvalidProgramError(
                f"OutputTag was given the id {tag_id!r}; it must be a non-empty text, because side outputs are found "
                "by it. Give each side output of an operator its own.",
                flink_class="java.lang.IllegalArgumentException" if tag_id == "" else "java.lang.NullPointerException",
            )
        if type_info is not None and not isinstance(type_info, TypeInformation):
            if not isinstance(type_info, list | tuple):
                raise TypeInfoError(
                    f"OutputTag({tag_id!r}) was given {shown(type_info)} as type_info, which is not a type. Write the "
                    "type with its parentheses, such as Types.STRING(); a list of types means a row."
                )
            type_info = cast("TypeInformation[T_co]", Types.ROW(type_info))
        object.__setattr__(self, "tag_id", tag_id)
        object.__setattr__(self, "type_info", type_info)

    def get_java_output_tag(self) -> JavaOutputTag:
        """The tag's object in Java (PyFlink)."""
        type_info = Types.PICKLED_BYTE_ARRAY() if self.type_info is None else self.type_info
        return JavaOutputTag(self.tag_id, type_info.get_java_type_info())
