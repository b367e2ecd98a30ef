"""Bucket assigners: the folder, below the base of a file sink, for each record.

Source of the semantics: ``BucketAssigner``, ``BasePathBucketAssigner``, ``DateTimeBucketAssigner`` (Flink 1.20).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import datetime, tzinfo
from typing import Any, Generic, TypeVar

from penstock.common import checks
from penstock.connectors.files import java_dates

T_contra = TypeVar("T_contra", contravariant=True)

DATE_TIME_FORMAT = "yyyy-MM-dd--HH"
"""The default format of date-time buckets."""


class BucketContext(ABC):
    """The ``context`` of :meth:`BucketAssigner.get_bucket_id`. Times are milliseconds."""

    __slots__ = ()

    @abstractmethod
    def current_processing_time(self) -> int:
        """The clock of the machine."""

    @abstractmethod
    def current_watermark(self) -> int:
        """The sink's watermark."""

    @abstractmethod
    def timestamp(self) -> int | None:
        """Timestamp of the record, None if it has none."""


class BucketAssigner(ABC, Generic[T_contra]):
    """Chooses the folder, below the base of a file sink, for each record. Subclasses define :meth:`get_bucket_id`
    (Flink: ``BucketAssigner``)."""

    Context = BucketContext

    @abstractmethod
    def get_bucket_id(self, element: T_contra, context: BucketContext, /) -> str:
        """The bucket of a record.

        Args:
            element: the record.
            context: timestamp, watermark and clock.

        Returns:
            A path from the base, such as ``country=se/2026``; "" for the base itself.
        """

    @staticmethod
    def base_path_bucket_assigner() -> BucketAssigner[Any]:
        """Write all files to the base itself."""
        return BasePathBuckets()

    @staticmethod
    def date_time_bucket_assigner(
        format_str: str = DATE_TIME_FORMAT, timezone_id: str | None = None
    ) -> BucketAssigner[Any]:
        """A folder for each hour, or what else the format says, by the clock of the machine that writes the record
        (Flink: ``DateTimeBucketAssigner``).

        Args:
            format_str: pattern of Java's ``DateTimeFormatter``.
            timezone_id: such as ``Europe/Paris`` or ``UTC``; None for the one of the machine.

        Raises:
            InvalidProgramError: no such format, or zone.
            UnsupportedError: a letter of the format has a meaning that depends on the machine.
        """
        return DateTimeBuckets(format_str, timezone_id)


class BasePathBuckets(BucketAssigner[Any]):
    """Writes all files to the base itself (Flink: ``BasePathBucketAssigner``)."""

    def __repr__(self) -> str:
        return "BasePathBucketAssigner()"

    def get_bucket_id(self, element: Any, context: BucketContext, /) -> str:
        return ""


class DateTimeBuckets(BucketAssigner[Any]):
    """Buckets by the clock; see :meth:`BucketAssigner.date_time_bucket_assigner`.

    Args:
        format_str: pattern of Java's ``DateTimeFormatter``.
        timezone_id: name of a time zone; None for the one of the machine.
    """

    def __init__(self, format_str: str = DATE_TIME_FORMAT, timezone_id: str | None = None) -> None:
        call = "date_time_bucket_assigner"
        self._format = checks.text(format_str, call, "format")
        self._zone_id = checks.text(timezone_id, call, "time zone", optional=True)
        self._prepare()

    def _prepare(self) -> None:
        call = "date_time_bucket_assigner"
        self._text = java_dates.formatter(self._format, call)
        self._zone: tzinfo | None = None if self._zone_id is None else java_dates.zone(self._zone_id, call)
        self._last: tuple[int, str] = (-1, "")

    def __reduce__(self) -> tuple[Any, ...]:
        return DateTimeBuckets, (self._format, self._zone_id)

    def __repr__(self) -> str:
        return f"DateTimeBucketAssigner({self._format!r}, {self._zone_id!r})"

    def get_bucket_id(self, element: Any, context: BucketContext, /) -> str:
        now = context.current_processing_time()
        if now != self._last[0]:
            moment = datetime.fromtimestamp(now // 1000, self._zone).replace(microsecond=now % 1000 * 1000)
            self._last = now, self._text(moment if self._zone is not None else moment.astimezone())
        return self._last[1]
