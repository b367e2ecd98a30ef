"""The native functions that work on a batch of records at a time. They do what Python code of the runtime does,
which is the reference and takes over where the native module is missing (an executor without the wheel) or is
switched off (``penstock.runtime.native``)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from types import ModuleType
from typing import Any, TypeVar

T = TypeVar("T", covariant=True)


@cache
def functions(wanted: bool = True) -> ModuleType | None:
    """``penstock._native``, loaded when first asked for; None where it cannot be, or is not ``wanted``. About 10 ms."""
    if not wanted:
        return None
    try:
        from penstock import _native
    except ImportError:
        return None
    return _native


def program(functions: ModuleType, text: str | None) -> Any:
    """A function of the user that was compiled, as a native program; None where there is none, or where this native
    module does not know all that it uses, as it is another one than that of the planner."""
    try:
        return None if text is None else functions.Program(text, getattr(text, "classes", ()))
    except ValueError:
        return None


class ColumnarRecords(Sequence[T]):
    """Records as they were read, which become objects, or columns, when somebody wants them."""

    @property
    def objects(self) -> list[T]:
        """The records."""
        raise NotImplementedError

    def columns(self, functions: ModuleType) -> Any:
        """The records as a native batch; None where they cannot be one."""
        raise NotImplementedError

    def __getitem__(self, index: Any) -> Any:
        return self.objects[index]


class BatchRecords(ColumnarRecords[T]):
    """Records that are a native batch."""

    def __init__(self, batch: Any) -> None:
        self._batch = batch

    def __len__(self) -> int:
        return len(self._batch)

    @cached_property
    def objects(self) -> list[T]:
        return self._batch.objects()

    def columns(self, functions: ModuleType) -> Any:
        return self._batch
