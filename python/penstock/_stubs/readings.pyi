"""Messages, lines, and rows of files as records in columns."""

from typing import final

from penstock._stubs.batches import Batch

@final
class Reading:
    """How messages are read as records.

    Args:
        text: JSON, as ``penstock.runtime.columns.layouts`` makes it.

    Raises:
        ValueError: the text does not say what messages are.
    """

    def __new__(cls, text: str) -> Reading: ...
    def read(self, messages: list[bytes | None], start: int) -> tuple[Batch, int]:
        """The records of some messages, until one is doubtful.

        Args:
            messages: bytes, or None.
            start: the first one that is read.

        Returns:
            The records, without timestamps; and the place behind the last message in them: if there is one, Python reads it.

        Raises:
            ValueError: there are not so many.
        """
    def blocks(self, blocks: list[tuple[bytes, int]]) -> Batch | None:
        """The records of blocks of Avro.

        Args:
            blocks: what is in each, and how many records.

        Returns:
            The records, without timestamps; None where one is doubtful.
        """
    def lines(self, data: bytes, start: int) -> tuple[Batch, int, int]:
        """The records of the lines of a text, until one is doubtful; lines of whitespace have none.

        Args:
            data: the text.
            start: where the first line begins that is read.

        Returns:
            The records, without timestamps; how many lines have been read; and where the next one begins: if there is one,
            Python reads it.

        Raises:
            ValueError: there are not so many bytes.
        """

@final
class CsvRows:
    """The rows of a CSV file as records. Its bytes are added as they are read.

    Args:
        text: JSON, as ``penstock.connectors.formats.csv`` makes it.

    Raises:
        ValueError: the text does not say what the rows are.
    """

    def __new__(cls, text: str) -> CsvRows: ...
    def add(self, data: bytes) -> bool:
        """Add bytes of the file.

        Args:
            data: the next bytes; none at the end of the file.

        Returns:
            Whether all bytes are UTF-8.
        """
    @property
    def waiting(self) -> int:
        """How many bytes wait to be read."""
    def read(self, most: int) -> tuple[Batch, str]:
        """The next records.

        Args:
            most: how many.

        Returns:
            The records, without timestamps; and why there are no more: ``full``; ``data``, there are no more bytes; ``doubt``,
            Python reads the texts of the next row; ``broken``, Python reads all rows from there on.
        """
    def texts(self, most: int) -> tuple[list[list[str]], str]:
        """The next rows as texts.

        Args:
            most: how many.

        Returns:
            The fields of the rows; and why there are no more, as for ``read``.
        """
    def skip(self, most: int) -> tuple[int, str]:
        """Pass over rows.

        Args:
            most: how many.

        Returns:
            How many there were; and why there are no more, as for ``read``.
        """
