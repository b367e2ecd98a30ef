"""What a valve knows from step to step."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.runtime.buffers.signals import MAX_WATERMARK, MIN_WATERMARK
from penstock.runtime.chain.entry import Valve


def valve() -> Valve:
    return Valve(range(1_000), lambda watermark: None, lambda active: None)


def test_nothing_is_kept_of_channels_of_which_nothing_is_known():
    first, second = valve(), valve()
    assert first.volatile(by_senders=False)[2] == []
    first.watermark(3, 7)
    first.watermark(5, 9)
    assert [name for name, *_ in first.volatile(by_senders=False)[2]] == [3, 5]
    second.resume(first.volatile(by_senders=False), {})
    assert second.volatile(by_senders=False) == first.volatile(by_senders=False)


SIGNALS = st.lists(st.tuples(st.integers(0, 4), st.none() | st.booleans() | st.integers(0, 9)), max_size=40)


@given(SIGNALS, SIGNALS)
def test_statuses_of_senders_need_not_be_kept(before, after):
    """None: the channel ends. A valve that resumes passes on what one that was always there does."""
    passed: list[list[object]] = [[], []]
    first, second = (Valve(range(5), signals.append, signals.append) for signals in passed)
    statuses: dict[int, tuple[int, bool]] = dict.fromkeys(range(5), (MIN_WATERMARK, True))
    for name, signal in before:
        give([first], name, signal, statuses)
    kept = first.volatile(by_senders=True)
    second.resume(kept, dict(statuses))
    assert len(kept[2]) <= sum(watermark < kept[0] for watermark, _ in statuses.values())
    assert second.volatile(by_senders=False) == first.volatile(by_senders=False)
    passed[0].clear()
    for name, signal in after:
        give([first, second], name, signal, statuses)
    assert passed[0] == passed[1]


def give(valves: list[Valve], name: int, signal: int | bool | None, statuses: dict[int, tuple[int, bool]]) -> None:
    """A signal, as a writer gives it, which knows its own statuses: nothing after the end, growing watermarks, and
    none while it is idle."""
    watermark, active = statuses[name]
    for valve in valves if watermark < MAX_WATERMARK else ():
        if signal is None:
            valve.end(name)
            statuses[name] = MAX_WATERMARK, True
        elif isinstance(signal, bool):
            valve.status(name, signal)
            statuses[name] = watermark, signal
        elif active:
            valve.watermark(name, signal)
            statuses[name] = max(watermark, signal), True
