"""The session in which a job runs.

A server of Spark Connect ends sessions that have been idle for long (an hour, by default), and all of them when it
is restarted. The job then goes on in a new one, which is given again what tasks need."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from penstock.errors import JobExecutionError
from penstock.spark import inside_pyspark
from penstock.spark.frames import text_of
from penstock.spark.shipped_code import Worker
from penstock.spark.spark_job import context_of

IDLE = 5.0
"""Seconds without a step after which a session is looked at before it is used: a call of Spark Connect."""


class JobSession:
    """The session of a job, until the end of a ``with`` block.

    Args:
        opened: opens one. Returns the session that the job's is made of, the user's or ours, and the job's.
        equipped: has the tasks of a session find what they need, given both; returns the workers that it has asked.
    """

    def __init__(
        self, opened: Callable[[], tuple[Any, Any]], equipped: Callable[[Any, Any], frozenset[Worker]]
    ) -> None:
        self._opened, self._equipped = opened, equipped
        self.base, self._session = opened()
        self._on_server = context_of(self._session) is None
        self._used: float | None = time.monotonic()
        self.workers: frozenset[Worker] = frozenset()

    def __enter__(self) -> JobSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._on_server:  # where it would stay behind
            inside_pyspark.release(self._session)

    def equip(self) -> None:
        """Have its tasks find what they need."""
        self.workers = self._equipped(self._session, self.base)

    def doubt(self) -> None:
        """A step has failed: the session may have ended."""
        self._used = None

    def get(self) -> Any:
        """The session, or a new one if it has ended.

        Raises:
            ConfigurationError: there cannot be a new one.
            JobExecutionError: the server does not answer.
        """
        if self._on_server:
            idle = self._used is None or time.monotonic() - self._used > IDLE
            if idle and self._has_ended():
                inside_pyspark.release(self._session)
                self.base, self._session = self._opened()
                self.equip()
            self._used = time.monotonic()
        return self._session

    def _has_ended(self) -> bool:
        try:
            return inside_pyspark.has_ended(self._session, failed=self._used is None)
        except Exception as error:
            raise JobExecutionError(
                f"The server of Spark Connect does not answer: {text_of(error)}. What is committed stands. Run the "
                "program again when it does, to resume from the same checkpoint directory."
            ) from error
