"""What the sources of a program read in a step: asked on the driver, and said to each subtask.

A source of splits says what there is. Its splits are dealt out: those that are there all the time, as the partitions of
a topic are, to the subtask that has least of them; others, as files, to whoever has nothing left. A split stays with
its subtask until it is over. A source without splits has one in each subtask, whose position is its own affair.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from penstock.errors import InvalidProgramError, PenstockError
from penstock.runtime.config.steps import Reading
from penstock.runtime.config.tasks import OperatorConfig, VertexConfig
from penstock.runtime.io.sources import BatchSource
from penstock.runtime.io.splits import Source, Split, SplitSource
from penstock.runtime.operators.reading import OWN

LOG = logging.getLogger("penstock")
MOST_SPLITS = 64
"""Splits that a subtask is given for a step."""


@dataclass(frozen=True)
class Plan:
    """What a source reads in a step.

    Attributes:
        readings: by subtask.
        busy: whether there is anything to read.
    """

    readings: tuple[Reading, ...]
    busy: bool


class SourcePlan:
    """What a source has read, and what it is to read.

    Args:
        vertex: whose head it is.
        positions: by split, as an earlier driver has left them.
        over: splits that have been read to their end.
        asked: the parallelism with which the source was asked for splits at first; 0: that of its task.

    Attributes:
        asked: as above, never 0.
        positions: from where to go on, by split: the subtask that reads it, and where.
        over: splits that have been read to their end.
        just_over: those of them that no manifest has.
        finished: subtasks that have ended.
    """

    def __init__(self, vertex: VertexConfig, positions: Mapping[str, Any], over: Iterable[str], asked: int = 0) -> None:
        self.vertex = vertex
        self.asked = asked or vertex.parallelism
        self.positions: dict[str, tuple[int, Any]] = {name: (at[0], at[1]) for name, at in positions.items()}
        self.over: set[str] = set(over)
        self.just_over: list[str] = []
        self.finished: set[int] = set()

    @property
    def over_for_good(self) -> bool:
        """Whether all its subtasks have ended."""
        return len(self.finished) == self.vertex.parallelism

    @property
    def operator(self) -> OperatorConfig:
        """The source."""
        return self.vertex.operators[0]

    def plan(self, records: int, millis: int) -> Plan:
        """What each subtask reads next.

        Args:
            records: most of them, for each subtask.
            millis: for those that push.
        """
        raise NotImplementedError

    def read(self, subtask: int, positions: Mapping[str, Any], ended: Sequence[str]) -> None:
        """A subtask has read. Counts when the step does; a step that fails is forgotten with this object."""
        for name, position in positions.items():
            self.positions[name] = subtask, position
        for name in ended:
            self.positions.pop(name, None)
            self.over.add(name)
        self.just_over += ended

    def committed(self) -> None:
        """What has been read is in a manifest."""
        self.just_over = []

    def dry(self) -> bool:
        """Whether it has read what was there at first, and is asked no more though it goes on."""
        return False

    def give_up(self) -> None:
        """A step has failed, and another plan takes the place of this one."""

    def close(self) -> None:
        """The job has ended."""


class PlanFrame(Protocol):
    """Makes the plan of a source that reads a DataFrame."""

    def __call__(
        self, vertex: VertexConfig, positions: Mapping[str, Any], over: Iterable[str], *, once: bool
    ) -> SourcePlan:
        """Arguments as those of :func:`plan_of`."""
        ...


class OwnPlan(SourcePlan):
    """A source without splits: a function that pushes, or a bounded one, which is cut into as many parts as it had
    subtasks at first. Where there are others, they share the parts."""

    def __init__(
        self, vertex: VertexConfig, positions: Mapping[str, Any], over: Iterable[str], asked: int = 0, *, pushes: bool
    ) -> None:
        super().__init__(vertex, positions, over, asked)
        self.pushes = pushes

    def plan(self, records: int, millis: int) -> Plan:
        """See :class:`SourcePlan`. The subtask says itself when it has ended."""
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
        """How many rounds a function has ended."""
        at = self._at(subtask)
        return at[1] if self.pushes and at else 0

    def read(self, subtask: int, positions: Mapping[str, Any], ended: Sequence[str]) -> None:
        super().read(subtask, {f"{OWN}-{subtask}" if name == OWN else name: at for name, at in positions.items()}, ())


class SplitPlan(SourcePlan):
    """A source of splits.

    Args:
        vertex, positions, over, asked: as for :class:`SourcePlan`.
        source: asked on the driver.
        once: whether only what is there at first is read.
    """

    def __init__(
        self,
        vertex: VertexConfig,
        positions: Mapping[str, Any],
        over: Iterable[str],
        source: Source[Any],
        once: bool,
        asked: int = 0,
    ) -> None:
        super().__init__(vertex, positions, over, asked)
        self.source = source
        self._once = once
        self._all: Sequence[Split] | None = None  # of a source that is asked once
        self._cut: set[str] = set()  # splits that go on behind what the step reads of them
        self._asked(lambda: source.resume(self._at() if positions else None), "resume")
        self._given: dict[str, int] = {}  # splits that have been dealt out, and not begun

    def plan(self, records: int, millis: int) -> Plan:
        """See :class:`SourcePlan`. O(splits with something to read)."""
        if self.over_for_good:
            return Plan(tuple(Reading((), records) for _ in range(self.vertex.parallelism)), busy=False)
        ended = self._asked(self.source.ended, "ended")  # asked before, too: more may come between two questions
        pending = self._pending()
        last = ended and self._asked(self.source.ended, "ended")
        own = self._dealt(pending)
        last = last and sum(map(len, own)) == len(pending)
        owners = {self._whose(name) for name in (*self.positions, *self._given)}
        together = self.source.together
        readings = tuple(
            self._reading(splits, records, last=last, idle=subtask not in owners if together else None)
            for subtask, splits in enumerate(own)
        )
        return Plan(readings, busy=not self.over_for_good and (bool(pending) or last))

    def _at(self) -> dict[str, Any]:
        return {name: at for name, (_, at) in self.positions.items()}

    def _pending(self) -> Sequence[Split]:
        parallelism, known = self.asked, self._at()
        if not (self.source.bounded or self._once):
            return self._asked(lambda: self.source.pending(parallelism, known, self.over), "pending")
        if self._all is None and self.source.bounded:
            self._all = self._asked(lambda: list(self.source.splits(parallelism)), "splits")
        elif self._all is None:
            self._all = self._asked(lambda: self.source.available(parallelism, known, self.over), "available")
        self._all = [split for split in self._all or () if split.id not in self.over]
        begun = [replace(split, start=known.get(split.id, split.start)) for split in self._all]
        return begun if self.source.bounded else [each for each in begun if each.end is None or each.start != each.end]

    def _dealt(self, pending: Sequence[Split]) -> list[list[Split]]:
        """The splits of each subtask: those that are its own, then others while it has none."""
        own: list[list[Split]] = [[] for _ in range(self.vertex.parallelism)]
        rest: list[Split] = []
        for split in pending:
            whose = self._whose(split.id)
            if whose is None:
                rest.append(split)
            elif len(own[whose]) < MOST_SPLITS or self.source.together:
                own[whose].append(split)
        loads = self._loads(own)
        for split in rest:
            subtask = min(range(len(own)), key=lambda each: (loads[each], each))
            if not self.source.together and len(own[subtask]) >= MOST_SPLITS:
                break
            loads[subtask] += 1 if self.source.together else max(split.weight, 1)
            own[subtask].append(split)
            self._given[split.id] = subtask
        return own

    def _whose(self, split: str) -> int | None:
        at = self.positions.get(split)
        subtask = self._given.get(split) if at is None else at[0]
        return subtask if subtask is not None and subtask < self.vertex.parallelism else None

    def _loads(self, own: Sequence[Sequence[Split]]) -> list[int]:
        if not self.source.together:
            return [sum(max(split.weight, 1) for split in each) for each in own]
        loads = [0] * len(own)
        for name in self.positions.keys() | self._given.keys():
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
        """What the source answers.

        Raises:
            InvalidProgramError: it has failed; its exception is the cause.
        """
        try:
            return ask()
        except PenstockError:
            raise
        except Exception as error:
            raise InvalidProgramError(
                f"The source {type(self.source).__name__} (operator {self.operator.name!r}) could not say what there "
                f"is to read: its {what}() raised {type(error).__name__}: {error}. It runs on the driver, before each "
                "step."
            ) from error

    def read(self, subtask: int, positions: Mapping[str, Any], ended: Sequence[str]) -> None:
        super().read(subtask, positions, [name for name in ended if name not in self._cut])
        for name in positions:
            self._given.pop(name, None)

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
    vertex: VertexConfig,
    function: Any,
    positions: Mapping[str, Any],
    over: Iterable[str],
    *,
    once: bool,
    asked: int = 0,
) -> SourcePlan:
    """The plan of a source.

    Args:
        vertex: whose head it is.
        function: of the source, as it travels.
        positions, over, asked: as for :class:`SourcePlan`.
        once: whether only what is there at first is read.
    """
    if isinstance(function, SplitSource):
        return SplitPlan(vertex, positions, over, function.source, once, asked)
    return OwnPlan(vertex, positions, over, asked, pushes=not isinstance(function, BatchSource))


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
