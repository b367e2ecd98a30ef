"""What writes values as bytes and reads them again. Source of the names: ``pyflink.common.serializer``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from io import BytesIO
from typing import Generic, TypeVar

__all__ = ["TypeSerializer"]

T = TypeVar("T")


class TypeSerializer(ABC, Generic[T]):
    """Base of the serializers."""

    @abstractmethod
    def serialize(self, element: T, stream: BytesIO, /) -> None:
        """Write a value."""

    @abstractmethod
    def deserialize(self, stream: BytesIO, /) -> T:
        """Read a value."""
