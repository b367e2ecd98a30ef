"""The targets of a program's sinks: no two are in each other's way."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.errors import InvalidProgramError
from penstock.job.commit.checks import check_target
from penstock.job.commit.leftovers import settle
from penstock.runtime.io.sinks import PublishedSink
from penstock.storage.storage import parents


class Targets:
    """The targets of sinks. None is that of two sinks, unless both add files to it, and none is inside another's.

    Args:
        steps: whether the job commits at each checkpoint.
        resumed: whether an earlier run of it has written to them.
    """

    def __init__(self, *, steps: bool = False, resumed: bool = False) -> None:
        self.steps, self._resumed = steps, resumed
        self._sinks: dict[str, str] = {}
        self._folders: dict[str, str] = {}  # all that contain an output, and a sink that writes there
        self._adding: set[str] = set()

    def add_all(self, sinks: Sequence[tuple[PublishedSink, str]]) -> None:
        """Add each of a program's sinks, with its name, and finish or remove what a crash has left of their targets.

        Raises:
            InvalidProgramError: a target is taken already, also under another spelling, or by a folder above or below.
            ConfigurationError: something stands there that may not be replaced, or another job writes there.
        """
        senders = {sink.place(): sink for sink, _ in sinks if sink.sends}
        for sink, name in sinks:
            place = sink.place()
            settle(place, adds=sink.adds, senders=senders)
            if sink.adds or not self._resumed:
                check_target(place, overwrite=sink.overwrite, adds=sink.adds)
            self._add(sink, place, name)

    def _add(self, sink: PublishedSink, place: str, name: str) -> None:
        """Take one more. O(depth of its path)."""
        around = (self._sinks[path] for path in (place, *parents(place)) if path in self._sinks)
        first = next(around, self._folders.get(place))
        if first is not None and sink.sends:
            raise InvalidProgramError(
                f"The sinks {first!r} and {name!r} have the same transactional id prefix, by which each would end the "
                "transactions of the other. Give each its own."
            )
        if first is not None and not (sink.adds and place in self._adding):
            raise InvalidProgramError(
                f"The sinks {first!r} and {name!r} both write to {place!r}, or one inside the folder of the other. "
                "Give each its own path, or unite the streams before one sink."
            )
        self._sinks[place] = name
        self._folders.update(dict.fromkeys(parents(place), name))
        if sink.adds:
            self._adding.add(place)
