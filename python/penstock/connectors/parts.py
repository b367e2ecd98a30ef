"""Conversions of values that have parts. An error names the part that does not fit, such as ``items[2].name``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.common.typesystem.conversions import Convert


class Unfit(ValueError):
    """A value that does not fit its type. ``why`` continues a sentence that begins with the value."""

    def __init__(self, value: object, why: str) -> None:
        super().__init__(value, why)
        self.value, self.why = value, why
        self.path: list[str] = []

    def __str__(self) -> str:
        return f"it {self.why}"

    def inside(self, part: str) -> Unfit:
        """The same, one level further out: ``.name`` or ``[2]``."""
        self.path.append(part)
        return self

    @property
    def place(self) -> str:
        """The field, such as ``items[2].name``."""
        return "".join(reversed(self.path)).removeprefix(".")


def of_type(*kinds: type, what: str) -> Callable[[Convert], Convert]:
    """Limits a conversion to values of some classes."""

    def decorate(convert: Convert) -> Convert:
        def checked(value: Any) -> Any:
            if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
                raise Unfit(value, f"is not a {what}")
            return convert(value)

        return checked

    return decorate


def elements(convert: Convert, what: str = "list") -> Convert:
    """The conversion of lists by that of their elements."""

    def convert_list(values: Any) -> list[Any]:
        if not isinstance(values, list | tuple):
            raise Unfit(values, f"is not a {what}")
        index, converted = 0, []
        try:
            for index, value in enumerate(values):  # noqa: B007 - for the error
                converted.append(convert(value))
        except Unfit as failure:
            raise failure.inside(f"[{index}]") from None
        return converted

    return convert_list


def entries(key: Convert, value: Convert) -> Convert:
    """The conversion of dicts by those of their keys and values."""

    def convert_dict(values: Any) -> dict[Any, Any]:
        if not isinstance(values, dict):
            raise Unfit(values, "is not a dict")
        name, converted = None, {}
        try:
            for name, item in values.items():
                converted[key(name)] = value(item)
        except Unfit as failure:
            raise failure.inside(f"[{name!r}]") from None
        return converted

    return convert_dict


def fields(names: Sequence[str], converts: Sequence[Convert]) -> Convert:
    """The conversion of the fields of a record, in order, by one for each."""
    named = list(zip(names, converts, strict=True))

    def convert_fields(values: Any) -> list[Any]:
        name, converted = "", []
        try:
            for (name, convert), value in zip(named, values, strict=True):  # noqa: B007 - for the error
                converted.append(convert(value))
        except Unfit as failure:
            raise failure.inside(f".{name}") from None
        return converted

    return convert_fields
