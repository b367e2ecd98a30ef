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


def within(bits: int) -> Convert:
    """A check for integers of so many bits; it refuses larger ones."""
    bound = 1 << bits - 1 if bits else 0

    def fit(value: int) -> int:
        if -bound <= value < bound:
            return value
        raise Unfit(value, f"does not fit into {bits} bits")

    return fit


def of_type(*kinds: type, what: str) -> Callable[[Convert], Convert]:
    """Limits a conversion to values of some classes."""

    def decorate(convert: Convert) -> Convert:
        def checked(value: Any) -> Any:
            if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
                raise Unfit(value, f"is not a {what}")
            return convert(value)

        return checked

    return decorate


def elements(convert: Convert, what: str = "list", *, none: Any = None, skips: bool = True) -> Convert:
    """The conversion of lists by that of their elements. If it ``skips`` None, that becomes ``none``."""

    def convert_list(values: Any) -> list[Any]:
        if not isinstance(values, list | tuple):
            raise Unfit(values, f"is not a {what}")
        converted: list[Any] = []
        try:
            for value in values:
                converted.append(none if value is None and skips else convert(value))
        except Unfit as failure:
            raise failure.inside(f"[{len(converted)}]") from None
        return converted

    return convert_list


def entries(key: Convert, convert: Convert, *, none: Any = None, skips: bool = True) -> Convert:
    """The conversion of dicts by those of their keys and values; None as for :func:`elements`."""

    def convert_dict(values: Any) -> dict[Any, Any]:
        if not isinstance(values, dict):
            raise Unfit(values, "is not a dict")
        name, converted = None, {}
        try:
            for name, value in values.items():
                converted[key(name)] = none if value is None and skips else convert(value)
        except Unfit as failure:
            raise failure.inside(f"[{name!r}]") from None
        return converted

    return convert_dict


def fields(names: Sequence[str], converts: Sequence[Convert], *, none: Any = None, skips: bool = True) -> Convert:
    """The conversion of the fields of a record, in order, by one for each; None as for :func:`elements`."""

    def convert_fields(values: Any) -> list[Any]:
        converted: list[Any] = []
        try:
            for index, value in enumerate(values):
                converted.append(none if value is None and skips else converts[index](value))
        except Unfit as failure:
            raise failure.inside(f".{names[len(converted)]}") from None
        return converted

    return convert_fields
