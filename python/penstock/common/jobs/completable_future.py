"""CompletableFuture: a result that comes later. Source of the names: ``pyflink.common.CompletableFuture``."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotDone
from contextlib import contextmanager
from typing import Generic, TypeVar

T = TypeVar("T")
U = TypeVar("U")
V = TypeVar("V")


class CompletableFuture(Generic[T]):
    """The result of an asynchronous call, as soon as there is one."""

    __slots__ = ("_future",)

    def __init__(self, future: Future[T]) -> None:
        self._future = future

    @staticmethod
    def of(call: Callable[[], U]) -> CompletableFuture[U]:
        """One that is done: with what a call gives or raises."""
        future: Future[U] = Future()
        try:
            future.set_result(call())
        except Exception as error:
            future.set_exception(error)
        return CompletableFuture(future)

    @staticmethod
    def after(future: Future[U], then: Callable[[U], V]) -> CompletableFuture[V]:
        """One with what ``then`` makes of another's result, or with its error. Each is cancelled alone."""
        result: Future[V] = Future()

        def finish(done: Future[U]) -> None:
            if result.set_running_or_notify_cancel():
                try:
                    result.set_result(then(done.result()))
                except BaseException as error:
                    result.set_exception(error)

        future.add_done_callback(finish)
        return CompletableFuture(result)

    def done(self) -> bool:
        """Whether there is a result, or an error, or it was cancelled."""
        return self._future.done()

    def cancelled(self) -> bool:
        """Whether this future was cancelled before it was done."""
        return self._future.cancelled()

    def cancel(self) -> bool:
        """Give up waiting; True if it was not done. To end the job itself, call ``cancel`` of its JobClient."""
        return self._future.cancel()

    def result(self, timeout: float | None = None) -> T:
        """The result, after waiting for it: ``timeout`` seconds at most, None without an end.

        Raises:
            TimeoutError: there is none yet.
            CancelledError: this future was cancelled (of ``concurrent.futures``).
            BaseException: what went wrong, such as a JobExecutionError.
        """
        with self._waiting(timeout):
            return self._future.result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """The error, or None; waits for it as :meth:`result` does."""
        with self._waiting(timeout):
            return self._future.exception(timeout)

    @contextmanager
    def _waiting(self, timeout: float | None) -> Generator[None, None, None]:
        try:
            yield
        except NotDone:  # before Python 3.11 it is no TimeoutError
            if self._future.done():
                raise
            raise TimeoutError(f"There is no result after {timeout} seconds. Wait longer, or ask done().") from None

    def __repr__(self) -> str:
        state = "cancelled" if self.cancelled() else ("done" if self.done() else "not done")
        return f"<CompletableFuture {state}>"
