"""What a valve knows from step to step."""

from __future__ import annotations

from penstock.runtime.chain.entry import Valve


def valve() -> Valve:
    return Valve(range(1_000), lambda watermark: None, lambda active: None)


def test_nothing_is_kept_of_channels_of_which_nothing_is_known():
    first, second = valve(), valve()
    assert first.volatile()[2] == []
    first.watermark(3, 7)
    first.watermark(5, 9)
    assert [name for name, *_ in first.volatile()[2]] == [3, 5]
    second.resume(first.volatile())
    assert second.volatile() == first.volatile()
