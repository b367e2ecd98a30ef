"""Metrics on Spark: the same as in this process, also when a task is tried twice."""

from __future__ import annotations

import pytest

from tests.runtime.chain.test_metrics import check, measured


@pytest.mark.parametrize("failing", [False, True], ids=["first attempt", "second attempt"])
def test_a_retried_task_counts_once(executor, failing):
    result = executor.execute(measured(failing).pipeline())
    check(result)
    attempts = {report.attempt for report in executor.reports if len(report.counters) == 2}
    assert attempts == {int(failing)}
