"""The names of PyFlink's ``pyflink.metrics.metricbase``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.metrics.group import Counter, Distribution, Meter, Metric, MetricGroup

__all__ = [
    "Counter",
    "Distribution",
    "Meter",
    "Metric",
    "MetricGroup",
]
