"""The type variables of PyFlink's modules, which programs name in ``Generic[IN, OUT]``; they are no public names."""

from __future__ import annotations

from typing import TypeVar

IN, IN1, IN2, OUT = TypeVar("IN"), TypeVar("IN1"), TypeVar("IN2"), TypeVar("OUT")
KEY, W2 = TypeVar("KEY"), TypeVar("W2")
K, T, V, W = TypeVar("K"), TypeVar("T"), TypeVar("V"), TypeVar("W")

TYPE_VARIABLES = {
    "pyflink.datastream.functions": (IN, IN1, IN2, KEY, OUT, W, W2),
    "pyflink.datastream.state": (IN, K, OUT, T, V),
    "pyflink.datastream.window": (IN, KEY, OUT, T, W, W2),
}
"""By module."""
