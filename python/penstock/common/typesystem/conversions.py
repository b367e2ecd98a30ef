"""Conversions of values, as functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Convert = Callable[[Any], Any]
"""A function that makes one value of another."""


def same(value: Any) -> Any:
    """The value."""
    return value


def optional(convert: Convert) -> Convert:
    """A conversion that leaves None as it is."""
    return lambda value: None if value is None else convert(value)
