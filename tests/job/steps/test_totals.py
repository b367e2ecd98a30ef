"""What steps count adds up to what they count together, and a difference takes it back."""

from __future__ import annotations

from penstock.metrics import SubtaskMetrics
from penstock.metrics.results import CounterValue, DistributionValue, GaugeValue, MeterValue, added, difference

FIRST = SubtaskMetrics(
    "id", "x", 10, 20, 1, 5, 4, bytes_in=100, bytes_out=200,
    user={
        "c": CounterValue(3), "m": MeterValue(5, 0.5), "g": GaugeValue("old"), "d": DistributionValue(2, 6, 1, 5),
        "gone": CounterValue(1), "kind": GaugeValue(1),
    },
)  # fmt: skip
SECOND = SubtaskMetrics(
    "id", "x", 1, 2, 0, 9, 8, bytes_in=10, bytes_out=20,
    user={
        "c": CounterValue(4), "m": MeterValue(1, 0.1), "g": GaugeValue("new"), "d": DistributionValue(1, 9, 9, 9),
        "kind": CounterValue(1),
    },
)  # fmt: skip


def test_two_steps_together() -> None:
    both = added(FIRST, SECOND)
    assert (both.records_in, both.records_out, both.late_dropped, both.bytes_in, both.bytes_out) == (
        11,
        22,
        1,
        110,
        220,
    )
    assert (both.input_watermark, both.output_watermark) == (9, 8)
    assert both.user == {
        "c": CounterValue(7), "m": MeterValue(6, 0.1), "g": GaugeValue("new"), "d": DistributionValue(3, 15, 1, 9),
        "gone": CounterValue(1), "kind": CounterValue(1),
    }  # fmt: skip
    assert added(None, FIRST) is FIRST


def test_the_step_between_two_moments() -> None:
    step = difference(added(FIRST, SECOND), FIRST)
    assert (step.records_in, step.records_out, step.late_dropped, step.bytes_in, step.bytes_out) == (1, 2, 0, 10, 20)
    assert step.user["c"] == CounterValue(4)
    assert step.user["m"] == MeterValue(1, 0.1)
    assert step.user["d"] == DistributionValue(1, 9, 1, 9)  # what it has ever seen
    assert step.user["g"] == GaugeValue("new")
    assert difference(FIRST, None) is FIRST
