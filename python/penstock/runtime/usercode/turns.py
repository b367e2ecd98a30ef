"""A user source that pushes, and a consumer that cannot wait for it: they take turns by a lock.

The thread of the source does what it likes, sleep say, but comes into the chain only in its turn: it waits at its next
record until it is given one. So a step can end while the source sleeps. (In a job that ends, :mod:`.steps` does the
same without a lock, as there is nothing else to do meanwhile.)
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from penstock.runtime.usercode.steps import SourceCancelled


class Turns:
    """A thread, and its turns in the chain.

    Args:
        body: what it runs.

    Attributes:
        done: whether it has ended.
        error: what it has raised.
    """

    def __init__(self, body: Callable[[], None]) -> None:
        self._body = body
        self._change = threading.Condition()
        self._turn = self._inside = self._paused = self._cancelled = False
        self.done = False
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._main, name="penstock-source", daemon=True)

    def _main(self) -> None:
        try:
            self._body()
        except SourceCancelled:
            pass
        except BaseException as error:
            self.error = error
        with self._change:
            self.done, self._inside = True, False
            self._change.notify_all()

    def give(self, seconds: float) -> bool:
        """Give the thread a turn: until it pauses or ends, or so much time has passed. Then it is out of the chain.

        Returns:
            Whether it has paused, as rows wait to leave, or its part of the step is over.
        """
        with self._change:
            self._turn, self._paused = True, False
            if self._thread.ident is None:
                self._thread.start()
            self._change.notify_all()
            self._change.wait_for(lambda: self._paused or self.done, seconds)
            self._change.wait_for(lambda: self._paused or self.done or not self._inside)
            self._turn = False
            return self._paused

    def enter(self) -> None:
        """By the thread: wait for a turn, and come into the chain."""
        with self._change:
            self._wait()
            self._inside = True

    def leave(self) -> None:
        """By the thread: be out of the chain."""
        with self._change:
            self._inside = False
            self._change.notify_all()

    def pause(self) -> None:
        """By the thread, inside: end the turn, and wait for the next."""
        with self._change:
            self._paused, self._turn = True, False
            self._change.notify_all()
            self._wait()

    def _wait(self) -> None:
        self._change.wait_for(lambda: self._turn or self._cancelled)
        if self._cancelled:
            raise SourceCancelled

    def cancel(self) -> None:
        """End the thread, if it lets itself be ended."""
        with self._change:
            self._cancelled = True
            self._change.notify_all()
        if self._thread.ident is not None:
            self._thread.join(timeout=1.0)
