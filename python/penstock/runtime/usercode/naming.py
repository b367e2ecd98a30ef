"""What functions and objects are called in the names of operators, which programs and metrics are known by."""

from __future__ import annotations

from typing import Any


def simple_name(function: Any) -> str:
    """The name a function shows in operator names: its class, or its own name if it is a plain function.

    A lambda is called ``lambda``: unlike Java's, its name must be the same in every run.
    """
    name = getattr(function, "__name__", None)
    if name == "<lambda>":
        return "lambda"
    return name if isinstance(name, str) else type(function).__name__


def java_object(class_name: str) -> str:
    """How Java prints an object without a text form of its own. Its address differs in each run, so a star stands for
    it."""
    return f"{class_name}@*"
