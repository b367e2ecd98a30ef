"""The base of the writers of columnar files, and the settings that PyFlink takes as a Hadoop configuration. Settings
without a meaning here are refused, because files are not read and written by Hadoop."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from penstock.common import Configuration, checks
from penstock.common.column_types import RowType
from penstock.common.settings.setting import Kind, Whole
from penstock.errors import ConfigurationError, UnsupportedError
from penstock.runtime.columns.layouts import ColumnsWriter

Readers = Mapping[str, tuple[str, Kind]]  # by key: the name of its argument, and the type of its value
SIZE = Whole(1, 2**63 - 1)


def arguments(configuration: Any, known: Readers, call: str, what: str) -> dict[str, Any]:
    """The settings of the configuration ``what`` as arguments, by the keys that are ``known``; others are refused."""
    if configuration is None:
        return {}
    checks.instance(configuration, call, Configuration, f"Give a Configuration as {what}, or leave it out.")
    values: dict[str, Any] = {}
    for key, text in configuration.to_dict().items():
        if key not in known:
            raise UnsupportedError(
                f"{call}({what}=…) sets {key!r}, which means nothing here: no Hadoop reads or writes the files. "
                f"{f'Known are {sorted(known)}. ' if known else ''}Leave it out."
            )
        name, kind = known[key]
        try:
            values[name] = kind.parse(text)
        except ValueError as error:
            raise ConfigurationError(f"{call}({what}=…) sets {key!r} to {text!r}. Give {kind.wanted}.") from error
    return values


class TableWriter(ColumnsWriter):
    """Writes rows by one of Arrow's writers. ``utc`` is whether local times are in UTC, else in the machine's zone."""

    writer: Any

    def __init__(self, row_type: RowType, utc: bool = True) -> None:
        from penstock.runtime.columns.arrow import LOCAL, UTC, BatchWriter

        self.batches = BatchWriter(row_type, UTC if utc else LOCAL)
        self._kept: list[Any] = []

    @abstractmethod
    def write(self, table: Any) -> None:
        """Hand rows to Arrow's writer."""

    def add_element(self, element: Any, /) -> None:
        self.add_all([element])

    def add_all(self, elements: Sequence[Any], /) -> None:
        self._keep(self.batches.batch(elements))

    def add_columns(self, batch: Any, functions: ModuleType) -> None:
        columns = self.batches.of_columns(batch)
        self._keep(self.batches.batch(batch.objects()) if columns is None else columns)

    def _keep(self, batch: Any) -> None:
        self._kept.append(batch)
        self.waiting += batch.nbytes

    def flush(self) -> None:
        import pyarrow as pa

        if self._kept:
            self.write(pa.Table.from_batches(self._kept))
            self._kept, self.waiting = [], 0

    def finish(self) -> None:
        self.flush()
        self.writer.close()
