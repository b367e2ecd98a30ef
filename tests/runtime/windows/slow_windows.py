"""Windows by definition, slowly."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

FOREVER = (1 << 63) - 1


def last_time(window: tuple[int, ...]) -> int:
    return window[1] - 1 if len(window) == 2 else FOREVER


@dataclass
class Live:
    """A window of a key: when event time ends it, its elements, and what its trigger knows and waits for."""

    key: str
    window: tuple[int, ...]
    ends: int
    elements: list[tuple[Any, int]] = field(default_factory=list)
    seen: int = 0
    next_time: int | None = None
    last: Any = None
    event_timers: set[int] = field(default_factory=set)
    clock_timers: set[int] = field(default_factory=set)


FIRE, PURGE = "fire", "purge"
Answer = set[str]


class Trigger:
    """Answers with a set of FIRE and PURGE."""

    def element(self, live: Live, element: Any, time: int, now: Now) -> Answer:
        return set()

    def event_time(self, live: Live, time: int, now: Now) -> Answer:
        return set()

    def clock(self, live: Live, time: int, now: Now) -> Answer:
        return set()

    def merged(self, live: Live, parts: list[Live], now: Now) -> None:
        """Windows have become one."""


@dataclass
class Now:
    watermark: int = -FOREVER - 1
    clock: int = 0


class AtEnd(Trigger):
    def element(self, live, element, time, now):
        end = last_time(live.window)
        if end <= now.watermark:
            return {FIRE}
        live.event_timers.add(end)
        return set()

    def event_time(self, live, time, now):
        return {FIRE} if time == last_time(live.window) else set()


class AtEndByClock(Trigger):
    def element(self, live, element, time, now):
        live.clock_timers.add(last_time(live.window))
        return set()

    def clock(self, live, time, now):
        return {FIRE}

    def merged(self, live, parts, now):
        if last_time(live.window) > now.clock:
            live.clock_timers.add(last_time(live.window))


@dataclass
class EveryNth(Trigger):
    count: int

    def element(self, live, element, time, now):
        live.seen += 1
        if live.seen < self.count:
            return set()
        live.seen = 0
        return {FIRE}

    def merged(self, live, parts, now):
        live.seen = sum(part.seen for part in parts)


def _following(time: int, interval: int) -> int:
    """The multiple of the interval after a time, as Java's remainder finds it."""
    return (time // interval if time >= 0 else -(-time // interval)) * interval + interval


@dataclass
class EveryNow(Trigger):
    interval: int
    by_clock: bool

    def element(self, live, element, time, now):
        if not self.by_clock:
            end = last_time(live.window)
            if end <= now.watermark:
                return {FIRE}
            live.event_timers.add(end)
        if live.next_time is None:
            self._wait(live, _following(now.clock if self.by_clock else time, self.interval))
        return set()

    def _wait(self, live, time):
        live.next_time = time
        (live.clock_timers if self.by_clock else live.event_timers).add(time)

    def event_time(self, live, time, now):
        if self.by_clock:
            return set()
        return {FIRE} if time == last_time(live.window) else self._again(live, time, now)

    def clock(self, live, time, now):
        return self._again(live, time, now) if self.by_clock else set()

    def _again(self, live, time, now):
        if time != live.next_time:
            return set()
        if now.watermark < FOREVER or live.ends < FOREVER:
            self._wait(live, time + self.interval)
        return {FIRE}

    def merged(self, live, parts, now):
        times = [part.next_time for part in parts if part.next_time is not None]
        if times:
            self._wait(live, min(times))


@dataclass
class Differs(Trigger):
    threshold: int

    def element(self, live, element, time, now):
        if live.last is None:
            live.last = element
        if abs(live.last[2] - element[2]) <= self.threshold:
            return set()
        live.last = element
        return {FIRE}


class Own(Trigger):
    """At every second element; three by the clock after an element it empties the window."""

    def element(self, live, element, time, now):
        live.seen += 1
        live.clock_timers.add(now.clock + 3)
        return {FIRE} if live.seen % 2 == 0 else set()

    def clock(self, live, time, now):
        return {PURGE}

    def merged(self, live, parts, now):
        live.seen = sum(part.seen for part in parts)
        live.clock_timers.add(now.clock + 3)


@dataclass
class Purging(Trigger):
    inner: Trigger

    def element(self, live, element, time, now):
        return self._all(self.inner.element(live, element, time, now))

    def event_time(self, live, time, now):
        return self._all(self.inner.event_time(live, time, now))

    def clock(self, live, time, now):
        return self._all(self.inner.clock(live, time, now))

    def _all(self, answer):
        return {FIRE, PURGE} if FIRE in answer else answer

    def merged(self, live, parts, now):
        self.inner.merged(live, parts, now)


Evict = Callable[[list[tuple[Any, int]]], list[tuple[Any, int]]]


@dataclass
class Windows:
    assign: Callable[[Any, int, int, int], Iterable[tuple[int, ...]]]
    by_time: bool
    merging: bool
    trigger: Trigger
    before: Evict | None
    after: Evict | None
    show: Callable[[str, tuple[int, ...], list[Any], int], list[Any]]
    lateness: int
    now: Now = field(default_factory=Now)
    windows: list[Live] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    results: list[Any] = field(default_factory=list)
    late: list[Any] = field(default_factory=list)

    def over(self, window: tuple[int, ...]) -> int:
        return min(last_time(window) + (self.lateness if self.by_time else 0), FOREVER)

    def take(self, element: Any) -> None:
        key, time, _ = element
        place = self.counts[key] = self.counts.get(key, -1) + 1
        taken = False
        for window in self.assign(element, time, self.now.clock, place):
            live = self._find(key, window)
            if self.by_time and self.over(live.window) <= self.now.watermark:
                self.windows.remove(live)
                continue
            taken = True
            live.elements.append((element, time))
            self._follow(live, self.trigger.element(live, element, time, self.now))
            if self.over(live.window) < FOREVER:
                (live.event_timers if self.by_time else live.clock_timers).add(self.over(live.window))
        if not taken and self.by_time and time + self.lateness <= self.now.watermark:
            self.late.append(element)

    def _find(self, key: str, window: tuple[int, ...]) -> Live:
        """The live window, made if it is new, merged with those that it touches if they merge."""
        mine = [live for live in self.windows if live.key == key]
        found = [live for live in mine if live.window == window]
        if self.merging:
            found = [live for live in mine if live.window[0] <= window[1] and window[0] <= live.window[1]]
            window = min([window[0], *(x.window[0] for x in found)]), max([window[1], *(x.window[1] for x in found)])
        if not found or [live.window for live in found] != [window]:
            ends = self.over(window) if self.by_time else FOREVER
            whole = Live(key, window, ends, [pair for part in found for pair in part.elements])
            self.windows = [live for live in self.windows if not any(live is part for part in found)] + [whole]
            if found:
                self.trigger.merged(whole, found, self.now)
            return whole
        return found[0]

    def _follow(self, live: Live, answer: Answer) -> None:
        if FIRE in answer and live.elements:
            shown = live.elements if self.before is None else self.before(live.elements)
            values = [element for element, _ in shown]
            time = last_time(live.window)
            self.results += [(r, time) for r in self.show(live.key, live.window, values, self.now.watermark)]
            live.elements = list(shown if self.after is None else self.after(shown))
        if PURGE in answer:
            live.elements = []

    def watermark(self, watermark: int) -> None:
        self.now.watermark = watermark
        self._fire("event_timers", watermark, self.trigger.event_time, self.by_time)

    def move_clock(self, clock: int) -> None:
        self.now.clock = clock
        self._fire("clock_timers", clock, self.trigger.clock, not self.by_time)

    def _fire(self, timers: str, until: int, ask: Callable[..., Answer], ends: bool) -> None:
        while True:
            due = [(t, i) for i, live in enumerate(self.windows) for t in getattr(live, timers) if t <= until]
            if not due:
                return
            time, place = min(due)
            live = self.windows[place]
            getattr(live, timers).remove(time)
            self._follow(live, ask(live, time, self.now))
            if ends and time == self.over(live.window):
                self.windows.remove(live)
