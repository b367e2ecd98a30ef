"""How records travel between tasks, as the program's settings say."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

from penstock.common.settings import Settings
from penstock.runtime import native

AUTO, COLUMNS = "auto", "columns"
FUSED = "fused"


@dataclass(frozen=True)
class ExchangeOptions:
    """How records travel between tasks.

    Attributes:
        buffer_records: how many records a buffer has at the most.
        codec: how buffers are written, ``auto``, ``pickle`` or ``columns``; every receiver reads them all.
        native: whether native functions are used where there are some.
    """

    buffer_records: int = Settings.buffer_records
    codec: str = Settings.codec
    native: bool = Settings.native

    @classmethod
    def of(cls, settings: Settings) -> ExchangeOptions:
        """The options in a program's settings."""
        return cls(settings.buffer_records, settings.codec, settings.native)

    @property
    def functions(self) -> ModuleType | None:
        """The native functions, if they are wanted and there."""
        return native.functions() if self.native else None
