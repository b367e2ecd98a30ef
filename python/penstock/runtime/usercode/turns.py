"""Code that pushes, such as a source function, and a consumer that pulls: they take turns.

The pushing code runs in a thread of its own. At any moment exactly one of the two is in the chain, so nothing there
needs a lock. Where the consumer can wait, it gives the thread its turn until the thread pauses or ends. Where it
cannot, as in a step that has to end though the source sleeps, the turn is over after some time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

START = threading.Lock()  # held while the stack size of new threads is another one: all threads of the process share it


class SourceCancelled(BaseException):
    """Raised inside pushing code whose consumer has gone away."""


class Turns:
    """A thread that runs ``body``, and its turns in the chain. ``error`` is what it has raised."""

    def __init__(self, body: Callable[[], None], stack_size: int = 0) -> None:
        self._body, self._stack_size = body, stack_size
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

    def give(self, seconds: float | None) -> bool:
        """Give the thread a turn; afterwards it is out of the chain. With ``seconds`` the turn is over after that
        time, if the thread has not paused or ended before; with None it need not even enter the chain. Returns
        whether it has paused, as rows wait to leave, or its part of the step is over."""
        with self._change:
            self._turn, self._paused = True, False
            if self._thread.ident is None:
                with START:
                    before = threading.stack_size(self._stack_size)
                    try:
                        self._thread.start()
                    finally:
                        threading.stack_size(before)
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
        with self._change:
            self._cancelled = True
            self._change.notify_all()
        if self._thread.ident is not None:
            self._thread.join(timeout=1.0)
