"""JavaClass and JavaObject: the common part of Python objects in place of PyFlink's objects of Java."""

from __future__ import annotations

import re
from typing import Any

from penstock.errors import MissingMethodError

__all__ = ["JavaClass", "JavaObject", "missing"]

_ADVICE = "It stands for an object of Flink's Java classes, only partly supported here. Use the classes of pyflink"


class JavaClass:
    """The result of ``getClass()``."""

    def __init__(self, name: str) -> None:
        self._name = name

    def getName(self) -> str:
        return self._name

    def getSimpleName(self) -> str:
        return re.split(r"[.$]", self._name)[-1]

    def __repr__(self) -> str:
        return f"class {self._name}"


class JavaObject:
    """Base of the stand-ins: Java's methods of every object, and advice for those that are not there."""

    java_class = "java.lang.Object"

    def getClass(self) -> JavaClass:
        return JavaClass(self.java_class)

    def toString(self) -> str:
        return str(self)

    def equals(self, other: object) -> bool:
        return self == other

    def hashCode(self) -> int:
        return hash(self)

    def __getattr__(self, name: str) -> Any:
        raise missing(self.java_class, name)


def missing(java_class: str, name: str) -> AttributeError:
    """The error for a method that a stand-in does not have."""
    if name.startswith("_"):
        return AttributeError(name)
    return MissingMethodError(f"{java_class}.{name} is not there. {_ADVICE}.", name=name)
