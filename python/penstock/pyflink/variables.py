"""The type variables of PyFlink's modules, which programs name in ``Generic[IN, OUT]``."""

from __future__ import annotations

from typing import TypeVar

__all__ = ["IN", "IN1", "IN2", "KEY", "OUT", "W2", "K", "T", "V", "W"]

IN, IN1, IN2, OUT = TypeVar("IN"), TypeVar("IN1"), TypeVar("IN2"), TypeVar("OUT")
KEY, W2 = TypeVar("KEY"), TypeVar("W2")
K, T, V, W = TypeVar("K"), TypeVar("T"), TypeVar("V"), TypeVar("W")
