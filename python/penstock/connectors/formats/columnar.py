"""The base of the writers of columnar files, and the settings that PyFlink takes as a Hadoop configuration. Settings
without a meaning here are refused, because files are not read and written by Hadoop."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from penstock.common import Configuration, checks
from penstock.common.bulk_writer import BulkWriter
from penstock.common.column_types import RowType
from penstock.errors import ConfigurationError, UnsupportedError

Readers = Mapping[str, tuple[str, Callable[[str], Any]]]  # by key: the name of its argument, and the reader of its text


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
        name, read = known[key]
        try:
            values[name] = read(text)
        except ValueError as error:
            raise ConfigurationError(f"{call}({what}=…) sets {key!r} to {text!r}. Give {error}.") from error
    return values


def choice(values: Mapping[str, Any]) -> Callable[[str], Any]:
    """The reader of one of the words, in any case; ``values`` are by word in lower case."""

    def chosen(text: str) -> Any:
        if text.lower() in values:
            return values[text.lower()]
        raise ValueError(f"one of {', '.join(values)}")

    return chosen


flag = choice({"true": True, "false": False})


def whole(text: str) -> int:
    """A number above 0."""
    if text.isdecimal() and int(text):
        return int(text)
    raise ValueError("a number above 0")


class TableWriter(BulkWriter[Any]):
    """Writes rows by one of Arrow's writers. ``utc`` is whether local times are in UTC, else in the machine's zone."""

    writer: Any

    def __init__(self, row_type: RowType, utc: bool = True) -> None:
        from penstock.connectors.formats.arrow import LOCAL, UTC, BatchWriter

        self.batches = BatchWriter(row_type, UTC if utc else LOCAL)
        self._kept: list[Any] = []

    @abstractmethod
    def write(self, table: Any) -> None:
        """Hand rows to Arrow's writer."""

    def add_element(self, element: Any, /) -> None:
        self.add_all([element])

    def add_all(self, elements: Sequence[Any], /) -> None:
        batch = self.batches.batch(elements)
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
