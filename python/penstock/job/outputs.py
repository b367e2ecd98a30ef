"""What the sinks of a job write files to: each target is free, or may be replaced, or may get more files; no two are in
each other's way."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType

from penstock.errors import InvalidProgramError
from penstock.job.commit.publish import Senders, Target, senders
from penstock.job.commit.recovery import settle
from penstock.runtime.io.sinks import PublishedSink


class Outputs:
    """The targets of sinks: none is another's, unless both add files to it, or inside another's. O(depth of the path)
    each."""

    def __init__(self) -> None:
        self._sinks: dict[Path, str] = {}
        self._folders: dict[Path, str] = {}  # all that contain an output, and a sink that writes there
        self._adding: set[Path] = set()

    def add_all(self, sinks: Sequence[tuple[PublishedSink, str]]) -> None:
        """:meth:`add` each of a program's sinks with its name; all may be needed to finish what a crash has left of
        one."""
        by = senders(Target.of(sink) for sink, _ in sinks)
        for sink, name in sinks:
            self.add(sink, name, by)

    def add(self, sink: PublishedSink, name: str, by: Senders = MappingProxyType({})) -> None:
        """Take one more, and finish or remove what a crash has left of its target.

        Args:
            sink: whose target.
            name: of the operator, for the error.
            by: sends what a crash has left to be sent.

        Raises:
            InvalidProgramError: it is taken already, also under another spelling, or by a folder above or below.
            ConfigurationError: something stands there that may not be replaced, or another job writes there.
        """
        target = Target.of(sink)
        real = target.path
        settle(real, adds=target.adds, by=by)
        target.check()
        around = (self._sinks[place] for place in (real, *real.parents) if place in self._sinks)
        first = next(around, self._folders.get(real))
        if first is not None and sink.sends:
            raise InvalidProgramError(
                f"The sinks {first!r} and {name!r} have the same transactional id prefix, by which each would end the "
                "transactions of the other. Give each its own."
            )
        if first is not None and not (target.adds and real in self._adding):
            raise InvalidProgramError(
                f"The sinks {first!r} and {name!r} both write to {str(real)!r}, or one inside the folder of the other. "
                "Give each its own path, or unite the streams before one sink."
            )
        self._sinks[real] = name
        self._folders.update(dict.fromkeys(real.parents, name))
        if target.adds:
            self._adding.add(real)
