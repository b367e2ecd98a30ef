"""Makes a process die, or an operation of the file system fail, just before the n-th change of it."""

from __future__ import annotations

import builtins
import contextlib
import errno
import os
from collections.abc import Callable, Iterator
from typing import Any

CHANGES = ("link", "mkdir", "rename", "replace", "rmdir", "unlink", "fsync")
DEAD = 9


@contextlib.contextmanager
def before_each_change(hook: Callable[[str], None]) -> Iterator[None]:
    """Call a hook with "rename /a/b" and the like before the change happens."""
    originals = {name: getattr(os, name) for name in CHANGES}
    original_open = builtins.open

    def hooked(name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            hook(f"{name} {args[0]}")
            return originals[name](*args, **kwargs)

        return call

    def open_(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if set(mode) & set("wxa"):
            hook(f"open {file}")
        return original_open(file, mode, *args, **kwargs)

    try:
        for name in CHANGES:
            setattr(os, name, hooked(name))
        builtins.open = open_
        yield
    finally:
        builtins.open = original_open
        for name, original in originals.items():
            setattr(os, name, original)


class Fuse:
    """Burns at the n-th change, counted from 0; ``seen`` is the change."""

    def __init__(self, n: int, effect: Callable[[], None]) -> None:
        self.left, self.effect, self.seen = n, effect, ""

    def __call__(self, change: str) -> None:
        self.left -= 1
        if self.left == -1:
            self.seen = change
            self.effect()


def refuse() -> None:
    raise OSError(errno.EIO, "as injected")


def dies_at(n: int, work: Callable[[], Any]) -> bool:
    """Run some work in a process that is killed at its n-th change; False if it came to its end before."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with before_each_change(Fuse(n, lambda: os._exit(DEAD))):
                work()
            status = 0
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, DEAD)
    return status == DEAD
