"""What the sinks of a job write files to: each target is free, or may be replaced, or may get more files; no two are in
each other's way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import MappingProxyType
from typing import Any

from penstock.errors import InvalidProgramError, UnsupportedError
from penstock.job.commit import recovery, store_recovery
from penstock.job.commit.publish import PendingOutputs, Senders, Target, senders
from penstock.job.commit.stores import StoreOutputs, StoreTarget
from penstock.runtime.config.tasks import JobConfig
from penstock.runtime.io.sinks import PublishedSink
from penstock.runtime.io.storage import is_local, parents


class Outputs:
    """The targets of sinks: none is another's, unless both add files to it, or inside another's. O(depth of the path)
    each.

    Args:
        steps: whether the job runs in steps.
        resumed: whether an earlier run of it has written to them.
    """

    def __init__(self, *, steps: bool = False, resumed: bool = False) -> None:
        self.steps, self._resumed = steps, resumed
        self._sinks: dict[str, str] = {}
        self._folders: dict[str, str] = {}  # all that contain an output, and a sink that writes there
        self._adding: set[str] = set()

    def add_all(self, sinks: Sequence[tuple[PublishedSink, str]]) -> None:
        """:meth:`add` each of a program's sinks with its name; all may be needed to finish what a crash has left of
        one."""
        by = senders(Target.of(sink) for sink, _ in sinks if is_local(sink.place()))
        for sink, name in sinks:
            self.add(sink, name, by)

    def add(self, sink: PublishedSink, name: str, by: Senders = MappingProxyType({})) -> None:
        """Take one more, and finish or remove what a crash has left of its target.

        Args:
            sink: whose target.
            name: of the operator, for the error.
            by: sends what a crash has left to be sent.

        Raises:
            UnsupportedError: some outputs are local, and others on stores.
            InvalidProgramError: it is taken already, also under another spelling, or by a folder above or below.
            ConfigurationError: something stands there that may not be replaced, or another job writes there.
        """
        place = sink.place()
        if not self.steps:  # otherwise the job folder says what has been committed
            self._refuse_mixture(place, name)
        _settle(sink, place, by, check=sink.adds or not self._resumed)
        around = (self._sinks[each] for each in (place, *parents(place)) if each in self._sinks)
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

    def _refuse_mixture(self, place: str, name: str) -> None:
        other = next((each for each in self._sinks if is_local(each) != is_local(place)), None)
        if other is not None:
            raise UnsupportedError(
                f"The sink {self._sinks[other]!r} writes to {other!r} and {name!r} to {place!r}. The outputs of a job "
                "become visible together, and nothing can be said at once to a local file system (where records for "
                "Kafka wait, too) and to a store. Write all of them to stores, or all to local or mounted folders, or "
                "make two jobs of it."
            )


def _settle(sink: PublishedSink, place: str, by: Senders, *, check: bool) -> None:
    """Finish or remove what a crash has left of a target, and look at it."""
    if is_local(place):
        target = Target.of(sink)
        recovery.settle(target.path, adds=target.adds, by=by)
        if check:
            target.check()
    else:
        stored = StoreTarget.of(sink)
        store_recovery.settle(stored)
        if check:
            stored.check()


def pending_outputs(job: JobConfig, sinks: Iterable[Any]) -> PendingOutputs | StoreOutputs:
    """The outputs of a job that is about to run.

    Args:
        job: whose.
        sinks: of the program, as they travel; those that write no files are left out.
    """
    writing = [sink for sink in sinks if isinstance(sink, PublishedSink)]
    if not writing or is_local(writing[0].place()):
        return PendingOutputs(job, list(map(Target.of, writing)))
    return StoreOutputs(job, list(map(StoreTarget.of, writing)))
