"""The plans of the sources of a program for a step, made on the driver for each subtask.

Splits that are there all the time, as a topic's partitions are, are dealt out to the subtask with the fewest of them,
others, as files, to one with nothing left. A source without splits has one in each subtask.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from penstock.common.settings.settings import Settings
from penstock.errors import InvalidProgramError, PenstockError
from penstock.metrics.running_job import SourceProgress
from penstock.runtime.config.steps import Reading
from penstock.runtime.config.tasks import OperatorConfig, VertexConfig
from penstock.runtime.io.sources import BatchSource
from penstock.runtime.io.splits import LostSplitsError, Source, Split, SplitSource, check_begun
from penstock.runtime.operators.source_reader import OWN, everything

LOG = logging.getLogger("penstock")
MOST_SPLITS = 64  # splits that a subtask is given for a step


@dataclass(frozen=True)
class Plan:
    """The readings of a source in a step."""

    readings: tuple[Reading, ...]
    busy: bool  # whether there is anything to read


class SourcePlan:
    """The progress of a source, and its next readings. ``asked``: the parallelism of its first splits."""

    def __init__(self, vertex: VertexConfig, positions: Mapping[str, Any], over: Iterable[str], asked: int = 0) -> None:
        self.vertex = vertex
        self.asked = asked or vertex.parallelism
        self.positions: dict[str, tuple[int, Any]] = {name: (at[0], at[1]) for name, at in positions.items()}
        self.over: set[str] = set(over)
        self.just_over: list[str] = []
        self.finished: set[int] = set()

    @property
    def over_for_good(self) -> bool:
        return len(self.finished) == self.vertex.parallelism

    @property
    def operator(self) -> OperatorConfig:
        return self.vertex.operators[0]

    def plan(self, records: int, millis: int | None) -> Plan:
        raise NotImplementedError

    def read(self, subtask: int, positions: Mapping[str, Any], ended: Sequence[str]) -> None:
        """A subtask has read. Counts with the next checkpoint; what fails before is forgotten with this object."""
        for name, position in positions.items():
            self.positions[name] = subtask, position
        for name in ended:
            self.positions.pop(name, None)
            self.over.add(name)
        self.just_over += ended

    def stepped(self) -> None:
        """The step has processed its readings, as a checkpoint or not."""

    def committed(self) -> None:
        self.just_over = []

    def progress(self) -> SourceProgress | None:
        """What is left of what there was when the last step was planned; None of a source without splits."""
        return None

    def dry(self) -> bool:
        """Whether it has read what was there at first, and is asked no more though it continues."""
        return False

    def give_up(self) -> None:
        """A step has failed, and another plan takes the place of this one."""

    def close(self) -> None: ...


PlanFrame = Callable[..., SourcePlan]
"""Makes the plan of a source that reads a DataFrame, of its vertex, positions, ended splits, ``once``, and ``folder``,
the checkpoint directory."""


class OwnPlan(SourcePlan):
    """A source without splits: a function that pushes, or a bounded one cut into as many parts as it was ``asked``."""

    def __init__(
        self, vertex: VertexConfig, positions: Mapping[str, Any], over: Iterable[str], asked: int = 0, *, pushes: bool
    ) -> None:
        super().__init__(vertex, positions, over, asked)
        self.pushes = pushes

    def plan(self, records: int, millis: int | None) -> Plan:
        readings = (
            Reading(self._splits(subtask), records, millis, last=True, parts=self.asked)
            for subtask in range(self.vertex.parallelism)
        )
        return Plan(tuple(readings), busy=not self.over_for_good)

    def _splits(self, subtask: int) -> tuple[Split, ...]:
        if self.pushes:
            return (Split(OWN, self._at(subtask)),)
        parts = range(subtask, self.asked, self.vertex.parallelism)
        return tuple(Split(f"{OWN}-{part}", self._at(part)) for part in parts)

    def _at(self, part: int) -> Any:
        return self.positions.get(f"{OWN}-{part}", (part, None))[1]

    def rounds(self, subtask: int) -> int:
        at = self._at(subtask)
        return at[1] if self.pushes and at else 0

    def read(self, subtask: int, positions: Mapping[str, Any], ended: Sequence[str]) -> None:
        super().read(subtask, {f"{OWN}-{subtask}" if name == OWN else name: at for name, at in positions.items()}, ())


class SplitPlan(SourcePlan):
    """A source of splits. ``leaves``: splits that are gone are left with a warning, though read in part."""

    def __init__(
        self,
        vertex: VertexConfig,
        positions: Mapping[str, Any],
        over: Iterable[str],
        source: Source[Any],
        settings: Settings,
        asked: int = 0,
    ) -> None:
        super().__init__(vertex, positions, over, asked)
        self.source = source
        self._once, self._leaves = settings.available_now, settings.ignore_unclaimed
        self._warns_of_idle = settings.pyflink and source.together
        self._all: Sequence[Split] | None = None  # of a source that is asked once
        self._cut: set[str] = set()  # splits that continue behind what the step reads of them
        self._asked(lambda: source.resume(self._at() if positions else None), "resume")
        self._assigned: dict[str, int] = {}  # splits that have been dealt out, and not begun
        self._unread: dict[str, Split] = {}  # what has not been read of the splits that were there at the last question
        self._ends: dict[str, Any] = {}  # of the splits that have been dealt out last
        self._stuck: dict[str, tuple[Any, Any]] = {}  # splits of which nothing could be read: from where, up to where

    def plan(self, records: int, millis: int | None) -> Plan:
        if self.over_for_good:
            return Plan(tuple(Reading((), records) for _ in range(self.vertex.parallelism)), busy=False)
        ended = self._asked(self.source.ended, "ended")  # asked before, too: more may come between two questions
        pending = self._pending()
        last = ended and self._asked(self.source.ended, "ended")
        shares = self._dealt(pending)
        self._unread = {split.id: split for split in pending}
        self._ends = {split.id: split.end for splits in shares for split in splits}
        for split in pending:  # a source must not forget where they begin, though a step may not come to them
            if split.id not in self.positions and self.source.remembers(split):
                nobody = self.vertex.parallelism
                self.positions[split.id] = self._assigned.pop(split.id, nobody), split.start
        last = last and sum(map(len, shares)) == len(pending)
        owners = {self._whose(name) for name in (*self.positions, *self._assigned)}
        together = self.source.together
        readings = tuple(
            self._reading(splits, records, last=last, idle=subtask not in owners if together else None)
            for subtask, splits in enumerate(shares)
        )
        if self._warns_of_idle and len(owners) < len(shares):
            self._warn_of_idle(len(owners))
        return Plan(readings, busy=not self.over_for_good and (bool(pending) or last))

    def _at(self) -> dict[str, Any]:
        return {name: at for name, (_, at) in self.positions.items()}

    def _warn_of_idle(self, reading: int) -> None:
        self._warns_of_idle = False
        LOG.warning(
            "Source %r has %d subtasks, and partitions for %d of them. The others count as idle here; in PyFlink they "
            "hold all watermarks back without with_idleness(). With set_parallelism(%d) both do the same.",
            self.operator.name,
            self.vertex.parallelism,
            reading,
            max(reading, 1),
        )

    def _pending(self) -> Sequence[Split]:
        try:
            return self._all_splits()
        except LostSplitsError as lost:
            if not self._leaves:
                raise
            LOG.warning(
                "The source %s leaves the rest of %d splits behind: %s", self.operator.name, len(lost.splits), lost
            )
            for name in lost.splits:
                self.positions.pop(name, None)
            self.over.update(lost.splits)
            self.just_over += lost.splits
            return self._all_splits()

    def _all_splits(self) -> Sequence[Split]:
        parallelism, known = self.asked, self._at()
        if not (self.source.bounded or self._once):
            return self._readable(self._asked(lambda: self.source.pending(parallelism, known, self.over), "pending"))
        if self._all is None and self.source.bounded:
            splits: list[Split] = self._asked(lambda: list(self.source.splits(parallelism)), "splits")
            check_begun(self.source, splits, known)
            self._all = splits
        elif self._all is None:
            self._all = self._asked(lambda: self.source.available(parallelism, known, self.over), "available")
        self._all = [split for split in self._all or () if split.id not in self.over]
        begun = [replace(split, start=known.get(split.id, split.start)) for split in self._all]
        if self.source.bounded:
            return begun
        return self._readable([split for split in begun if split.end is None or split.start != split.end])

    def _readable(self, splits: Sequence[Split]) -> Sequence[Split]:
        """Without splits that gave nothing, as long as they have the same end."""
        if not self._stuck:
            return splits
        return [split for split in splits if split.end is None or self._stuck.get(split.id) != (split.start, split.end)]

    def _dealt(self, pending: Sequence[Split]) -> list[list[Split]]:
        """The splits of each subtask: those that are its own, then others while it has none."""
        shares: list[list[Split]] = [[] for _ in range(self.vertex.parallelism)]
        rest: list[Split] = []
        for split in pending:
            whose = self._whose(split.id)
            if whose is None:
                rest.append(split)
            elif len(shares[whose]) < MOST_SPLITS or self.source.together:
                shares[whose].append(split)
        loads = self._loads(shares)
        for split in rest:
            subtask = min(range(len(shares)), key=lambda index: (loads[index], index))
            if not self.source.together and len(shares[subtask]) >= MOST_SPLITS:
                break
            loads[subtask] += 1 if self.source.together else max(split.weight, 1)
            shares[subtask].append(split)
            self._assigned[split.id] = subtask
        return shares

    def _whose(self, split: str) -> int | None:
        at = self.positions.get(split)
        subtask = self._assigned.get(split) if at is None else at[0]
        return subtask if subtask is not None and subtask < self.vertex.parallelism else None

    def _loads(self, shares: Sequence[Sequence[Split]]) -> list[int]:
        if not self.source.together:
            return [sum(max(split.weight, 1) for split in splits) for splits in shares]
        loads = [0] * len(shares)
        for name in self.positions.keys() | self._assigned.keys():
            subtask = self._whose(name)
            if subtask is not None:
                loads[subtask] += 1
        return loads

    def _reading(self, splits: Sequence[Split], records: int, *, last: bool, idle: bool | None) -> Reading:
        share = max(1, records // max(len(splits), 1)) if self.source.together else records
        cut = tuple(self._asked(lambda split=split: self.source.limited(split, share), "limited") for split in splits)
        goes_on = {new.id for new, old in zip(cut, splits, strict=True) if new.end != old.end}
        self._cut = (self._cut - {split.id for split in splits}) | goes_on
        return Reading(cut, records, last=last and not goes_on, idle=idle)

    def _asked(self, ask: Any, what: str) -> Any:
        try:
            return ask()
        except PenstockError:
            raise
        except Exception as error:
            raise InvalidProgramError(
                f"The source {type(self.source).__name__} (operator {self.operator.name!r}) could not say what there "
                f"is to read: its {what}() raised {type(error).__name__}: {error}. It runs on the driver."
            ) from error

    def read(self, subtask: int, positions: Mapping[str, Any], ended: Sequence[str]) -> None:
        for name, position in positions.items():
            if name in self.positions and self.positions[name][1] == position and name not in ended:
                self._warn_of_stuck(name, position)
        super().read(subtask, positions, [name for name in ended if name not in self._cut])
        for name, position in positions.items():
            self._assigned.pop(name, None)
            if name in self._unread:
                self._unread[name] = replace(self._unread[name], start=position)

    def progress(self) -> SourceProgress:
        unread = {name: split for name, split in self._unread.items() if name not in self.over}
        records = self._asked(lambda: self.source.records_in(unread.values()), "records_in")
        return SourceProgress(len(self.positions.keys() | unread), records)

    def _warn_of_stuck(self, name: str, position: Any) -> None:
        end = self._ends.get(name)
        if end is None or position == end:
            return
        self._stuck[name] = position, end
        LOG.warning(
            "Source %r: of the split %r nothing could be read from position %r on, though it ends at %r: it was cut, "
            "or read() stops before the end that splits() says. It is not read again before it has another end.",
            self.operator.name,
            name,
            position,
            end,
        )

    def committed(self) -> None:
        super().committed()
        try:
            self.source.committed(self._at())
        except Exception as error:
            LOG.warning("The source %s could not take note of a commit: %s", self.operator.name, error)

    def dry(self) -> bool:
        return self._once and not self.source.bounded and not self._pending()

    def close(self) -> None:
        self.source.close()


def plan_of(
    vertex: VertexConfig, function: Any, settings: Settings, positions: Mapping[str, Any], over: set[str], asked: int
) -> SourcePlan:
    """The plan of a source."""
    if isinstance(function, SplitSource):
        return SplitPlan(vertex, positions, over, function.source, settings, asked)
    return OwnPlan(vertex, positions, over, asked, pushes=not isinstance(function, BatchSource))


class WholePlan(SourcePlan):
    """A bounded source that is pulled, of a job that commits once: each subtask reads all that it has, in one step."""

    def __init__(self, vertex: VertexConfig, function: BatchSource) -> None:
        super().__init__(vertex, {}, ())
        self._function = function

    def plan(self, records: int, millis: int | None) -> Plan:
        readings = (everything(self._function, subtask) for subtask in range(self.vertex.parallelism))
        return Plan(tuple(readings), busy=not self.over_for_good)


class WholeTurns(OwnPlan):
    """A function that pushes, in a job that commits once: a step lasts until it ends a round, or itself."""

    def plan(self, records: int, millis: int | None) -> Plan:
        return super().plan(1 << 62, None)


def whole_plan(vertex: VertexConfig, function: Any) -> SourcePlan:
    """The plan of a source of a job that commits once."""
    return WholePlan(vertex, function) if isinstance(function, BatchSource) else WholeTurns(vertex, {}, (), pushes=True)


def hold_back(plans: Sequence[tuple[SourcePlan, Plan]]) -> list[tuple[Reading, ...]]:
    """The readings, without those of functions that have ended a round which others have not."""
    pushing = [plan for plan, _ in plans if isinstance(plan, OwnPlan) and plan.pushes]
    places = ((plan, subtask) for plan in pushing for subtask in range(plan.vertex.parallelism))
    rounds = [plan.rounds(subtask) for plan, subtask in places if subtask not in plan.finished]
    least = min(rounds, default=0)
    held: list[tuple[Reading, ...]] = []
    for plan, planned in plans:
        if isinstance(plan, OwnPlan) and plan.pushes:
            readings = enumerate(planned.readings)
            held.append(tuple(replace(r, records=0) if plan.rounds(s) > least else r for s, r in readings))
        else:
            held.append(planned.readings)
    return held


def now_millis() -> int:
    """The wall clock."""
    return time.time_ns() // 1_000_000
